/** Shorter ones could occur anywhere. */
const shortestSecret = 12;

/** From this pino level on, a line must not contain an address. */
const info = 30;

const address = /\+\d{8,15}|[\w.+-]+@[\w-]+(\.[\w-]+)+/;

/**
 * Finds the first log line with a secret from the environment, or with a recipient's address at `info` or above.
 */
export function uncleanLine(
  stderr: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    /TOKEN|KEY|HOOK|SECRET|PASSWORD/.test(name) && value.length >= shortestSecret ? [value] : [],
  );
  return stderr.split('\n').find((line) => {
    const level = Number(/^\{"level":(\d+),/.exec(line)?.[1] ?? 0);
    if (level === 0) return false;
    return secrets.some((secret) => line.includes(secret)) || (level >= info && address.test(line));
  });
}
