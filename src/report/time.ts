/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function toSeconds(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}
