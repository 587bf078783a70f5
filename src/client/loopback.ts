/** Names that never leave the machine: who answers there is not for a certificate to say, and nobody signs one for localhost. */
export const isLoopback = (address: string): boolean =>
  /^https?:\/\/(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$)/i.test(address);
