/** Names that never leave this machine. No certificate has to prove who answers there, and no public authority signs one for localhost. */
export const isLoopback = (address: string): boolean =>
  /^https?:\/\/(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$)/i.test(address);
