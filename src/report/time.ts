/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function toSeconds(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

/** `YYYY-MM-DD HH:mm:ss` in a time zone of the IANA database. */
export function toLocalSeconds(time: Date, timeZone: string): string {
  // Swedes write dates so.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(time);
}
