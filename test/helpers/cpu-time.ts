/** How long this process computed for a piece of work, in milliseconds. Unlike the time on a clock, other processes on the machine hardly change it. */
export async function cpuTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
