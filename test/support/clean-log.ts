/** Shorter secrets are ordinary words. */
const shortestSecret = 12;

/** pino's number of the lowest level whose lines must have no address. */
const info = 30;

const address = /\+\d{8,15}|[\w.+-]+@[\w-]+(\.[\w-]+)+/;

/**
 * Finds a forbidden log line: with a secret of the process's environment, or a recipient's address at `info` or above.
 *
 * @param said standard error; lines of other text are skipped
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
