/** Names of this machine. They need no certificate, and no public authority issues one for localhost. */
export const isLoopback = (address: string): boolean =>
  /^https?:\/\/(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$)/i.test(address);
