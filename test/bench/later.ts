import { volleyInProcess } from '../support/volley.ts';

/** Runs a command of volley as if so many days had passed, because a purge takes runs of yesterday or older only. */
const [days, ...words] = process.argv.slice(2);
const environment = Object.entries(process.env).flatMap(([name, value]) =>
  value === undefined ? [] : [[name, value] as const],
);
const { code, stdout, stderr } = await volleyInProcess(words, {
  env: Object.fromEntries(environment),
  now: () => new Date(Date.now() + Number(days) * 86_400_000),
});
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code ?? 1;
