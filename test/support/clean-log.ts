/** Shorter ones are words that stand anywhere. */
const shortestSecret = 12;

/** pino's number of the level from which on a line must have no address. */
const info = 30;

const address = /\+\d{8,15}|[\w.+-]+@[\w-]+(\.[\w-]+)+/;

/**
 * What a process must not have logged: a secret that its environment gave it, or a recipient's address at `info` or above.
 *
 * @param said standard error; what is no line of the log is passed over
 * @returns the first such line
 */
export function uncleanLine(
  said: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    /TOKEN|KEY|HOOK|SECRET|PASSWORD/.test(name) && value.length >= shortestSecret ? [value] : [],
  );
  return said.split('\n').find((line) => {
    const level = Number(/^\{"level":(\d+),/.exec(line)?.[1] ?? 0);
    if (level === 0) return false;
    return secrets.some((secret) => line.includes(secret)) || (level >= info && address.test(line));
  });
}
