import type { Command } from 'commander';

export type Example = { readonly line: string; readonly what: string };

/** By command, without `volley`. Help, the command reference and the man page show them. */
const examples: Readonly<Record<string, readonly Example[]>> = {
  init: [
    { line: 'volley init shop', what: 'make a project with a first campaign' },
    {
      line: 'volley init shop --contacts members.csv --country AU',
      what: 'write the first campaign for contacts of your own',
    },
    { line: 'volley init --bare', what: 'on a server: only the marker and the ledger' },
  ],
  check: [{ line: 'volley check campaigns/first.yaml', what: 'find mistakes, without a ledger' }],
  plan: [
    { line: 'volley plan campaigns/first.yaml', what: 'look before you send' },
    {
      line: 'volley plan campaigns/first.yaml --preview first.html',
      what: 'see messages as their readers see them',
    },
    { line: 'volley plan campaigns/first.yaml --out first.plan', what: 'save the plan, to send exactly it' },
    {
      line: 'zcat export.csv.gz | volley plan campaigns/first.yaml --contacts -',
      what: 'read contacts from a pipe',
    },
  ],
  run: [
    { line: 'volley run campaigns/first.yaml', what: 'send a campaign' },
    { line: 'volley run campaigns/first.yaml --sandbox', what: 'try it, without a service' },
    {
      line: 'volley run campaigns/first.yaml --test-to +61412345678',
      what: 'send the first row to yourself',
    },
    { line: 'volley run --plan first.plan', what: 'send exactly a saved plan' },
    {
      line: 'volley run --only failed,unknown --of latest',
      what: 'send again to recipients that were not reached',
    },
  ],
  resume: [
    { line: 'volley resume latest', what: 'continue the newest run' },
    { line: 'volley resume --all', what: 'continue every interrupted run, as from cron' },
  ],
  approve: [{ line: 'volley approve latest', what: 'approve the newest run' }],
  pause: [{ line: 'volley pause latest --reason "wrong text"', what: 'stop the newest run for now' }],
  cancel: [{ line: 'volley cancel latest --reason "wrong list"', what: 'end the newest run for good' }],
  worker: [{ line: 'volley worker', what: 'help to send all runs, until Ctrl-C' }],
  'schedule sync': [{ line: 'volley schedule sync', what: 'read the schedules of the project again' }],
  'schedule list': [{ line: 'volley schedule list', what: 'see what was started, and when' }],
  'schedule next': [{ line: 'volley schedule next --limit 5', what: 'see the next five starts' }],
  runs: [{ line: 'volley runs --limit 5', what: 'list the five newest runs' }],
  status: [
    { line: 'volley status latest', what: 'see the newest run in numbers' },
    { line: 'volley status --watch', what: 'watch the newest run until it is over' },
  ],
  tail: [
    { line: 'volley tail latest', what: 'follow the newest run until it is over' },
    {
      line: 'volley tail --failures --since 15m --no-follow',
      what: 'see what went wrong lately, in any run',
    },
  ],
  resolve: [
    { line: 'volley resolve latest', what: 'list the requests in doubt' },
    { line: 'volley resolve latest --look-up', what: 'ask the service about them' },
  ],
  'report run': [{ line: 'volley report run latest --out run.html', what: 'write a page to print' }],
  'report campaigns': [
    { line: 'volley report campaigns --from 2026-11', what: 'compare the runs since November' },
  ],
  'report contacts': [
    { line: 'volley report contacts latest --out result.csv', what: 'write every row with its result' },
    { line: 'volley report contacts latest --rejected --out rejected.csv', what: 'write the rows to fix' },
  ],
  'report failures': [{ line: 'volley report failures latest', what: "read the service's own words" }],
  'report recipient': [
    { line: 'volley report recipient +61412345678', what: 'see everything about one recipient' },
  ],
  'report billing': [
    { line: 'volley report billing --from 2026-11', what: 'bill November by SubAccount and ChargeCode' },
    { line: 'volley report billing --by campaign,month --out billing.xlsx', what: 'write a workbook' },
  ],
  'report reconcile': [
    {
      line: 'volley report reconcile --invoice november.csv --from 2026-11 --to 2026-12',
      what: 'check an invoice',
    },
  ],
  'delivery-reports list': [
    { line: 'volley delivery-reports list --state unmatched', what: 'find reports of no message' },
  ],
  'delivery-reports missing': [
    {
      line: 'volley delivery-reports missing --older-than 2d',
      what: 'find recipients without a final report',
    },
  ],
  'delivery-reports poll': [
    { line: 'volley delivery-reports poll latest', what: 'ask the service for the missing reports' },
  ],
  'delivery-reports replay': [
    { line: 'volley delivery-reports replay --all', what: 'apply unmatched reports again' },
  ],
  'billing close': [
    { line: 'volley billing close 2026-10 --time-zone Pacific/Auckland', what: 'close October' },
  ],
  'billing list': [{ line: 'volley billing list', what: 'list the closed months' }],
  'suppress add': [
    {
      line: 'volley suppress add ann@example.com --channel email --reason "asked by phone"',
      what: 'never send there again',
    },
  ],
  'suppress remove': [
    { line: 'volley suppress remove ann@example.com --channel email', what: 'send there again' },
  ],
  'suppress import': [
    { line: 'volley suppress import opted-out.csv --channel sms --country AU', what: 'import a list' },
  ],
  'suppress list': [{ line: 'volley suppress list --channel sms', what: 'list suppressed numbers' }],
  'account limits': [
    { line: 'volley account limits', what: 'show the limits' },
    {
      line: 'volley account limits main --requests-per-second 20',
      what: 'slow an account down, also during a run',
    },
  ],
  purge: [{ line: 'volley purge --older-than 400d --dry-run', what: 'see what would be erased' }],
  erase: [
    {
      line: "volley erase +61412345678 --reason 'asked on 3 November' --dry-run",
      what: 'see what would be erased of one person',
    },
  ],
  audit: [{ line: 'volley audit --since 2026-11-01', what: 'see who did what since 1 November' }],
  'token create': [
    {
      line: 'volley token create --name billing --scope read --owner ann',
      what: 'make a token that can only read',
    },
  ],
  'token list': [{ line: 'volley token list', what: 'list the tokens' }],
  'token revoke': [{ line: 'volley token revoke billing', what: 'end a token at once' }],
  serve: [{ line: 'volley serve', what: 'receive delivery reports, send, serve the API and the dashboard' }],
  dashboard: [
    { line: 'volley dashboard', what: 'look at your runs in a browser' },
    {
      line: 'volley dashboard --no-open --port 8030',
      what: 'on a server, through ssh -L 8030:127.0.0.1:8030; open the address that it prints',
    },
  ],
  doctor: [
    { line: 'volley doctor', what: 'every check, with the next steps' },
    {
      line: 'volley doctor --quiet --strict',
      what: 'for cron: print warnings and problems only, and fail for them',
    },
    { line: 'volley doctor --json', what: 'for monitoring' },
  ],
  sandbox: [{ line: 'volley sandbox --journal requests.jsonl', what: 'start a service to test against' }],
  'db migrate': [{ line: 'volley db migrate', what: 'update the ledger after an upgrade' }],
  'db status': [{ line: 'volley db status', what: 'see which database is used' }],
  'db stop': [{ line: 'volley db stop', what: 'stop the embedded server' }],
  'db restored': [
    {
      line: 'volley db restored --since 2026-11-22T01:00Z --reason "disk failed"',
      what: 'confirm a restored backup',
    },
  ],
  completion: [
    { line: 'eval "$(volley completion bash)"', what: 'complete in this bash' },
    { line: 'volley completion fish | source', what: 'complete in this fish' },
  ],
  schema: [{ line: 'volley schema campaign', what: 'print the JSON Schema of campaigns' }],
  demo: [
    { line: 'volley demo', what: 'see everything once, on this machine' },
    { line: 'volley demo --dashboard', what: 'watch it in a browser' },
  ],
};

/** @param path the command without `volley`, such as `report run` */
export const examplesOf = (path: string): readonly Example[] => examples[path] ?? [];

export const examplePaths: readonly string[] = Object.keys(examples);

/** Adds the examples to the help of a command and its subcommands. */
export function addExamples(command: Command, path: string): void {
  const found = examplesOf(path).map(({ line, what }) => `  # ${what}\n  ${line}`);
  if (found.length > 0) command.addHelpText('after', ['', 'Examples:', ...found].join('\n'));
  for (const each of command.commands) addExamples(each, `${path} ${each.name()}`);
}
