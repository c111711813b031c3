import { toString as cronWords } from 'cronstrue';

export type Times = {
  readonly cron?: string | undefined;
  readonly at?: readonly string[] | undefined;
  readonly timeZone: string;
};

const maxListed = 3;

/** The times of a schedule: `Every weekday at 18:00 Auckland time`, `2026-12-01 09:00 and 2026-12-24 09:00 UTC`. */
export function scheduleWords({ cron, at = [], timeZone }: Times): string {
  const words = cron === undefined ? listed(at.map((time) => time.replace('T', ' '))) : wordsOf(cron);
  return `${words}${/\d$/.test(words) ? '' : ','} ${zoneWords(timeZone)}`;
}

function listed(times: readonly string[]): string {
  const shown = times.slice(0, maxListed);
  const more = times.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.join(', ').replace(/, (?=[^,]*$)/, ' and ');
}

/** A form that only croner knows stays as it is written. */
function wordsOf(cron: string): string {
  try {
    return cronWords(cron, { use24HourTimeFormat: true, verbose: true })
      .replace('Monday through Friday', 'every weekday')
      .replace(/^At (.+), every (weekday|day)$/, 'Every $2 at $1');
  } catch {
    return cron;
  }
}

/** `Auckland time` for `Pacific/Auckland`. */
function zoneWords(timeZone: string): string {
  const city = /^(?!Etc\/).+\/([^/]+)$/.exec(timeZone)?.[1];
  return city === undefined ? timeZone : `${city.replaceAll('_', ' ')} time`;
}
