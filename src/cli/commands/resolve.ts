import { type Command, Option } from 'commander';
import { InputError } from '../../domain/problems.ts';
import type { Resolution } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import { listNamedDoubts, type NamedRequests, resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { doubtTable, formatResolved } from '../../report/doubts.ts';
import { formatReasonOf } from '../../report/reason-text-of.ts';
import { parsePerson } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Requests in doubt: lists them, asks the service about them, or settles them by your word, which is recorded. A request is in doubt when it may have reached the service and no answer says so.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--request <request...>', 'only these, by number or MessageID; all that are in doubt by default')
    .addOption(action('accepted', 'the service has them: they count as accepted'))
    .addOption(
      action('resend', 'send them again, same MessageID and bytes; recipients may get the message twice'),
    )
    .addOption(action('abandon', 'give them up; their recipients stay unknown'))
    .addOption(
      action('lookUp', 'ask the service about each, at most one a second; those it has are accepted'),
    )
    .option('--reason <words>', 'why, with --accepted, --resend or --abandon')
    .option('--by <name>', 'who says so (default: user@host)', parsePerson)
    .option('--json', 'print the result as JSON; the list as one object a line')
    .action(async (run: string, options: ResolveOptions) => {
      const requests = { run, named: options.request };
      const resolution = resolutionOf(options);
      if (resolution)
        await withLedger(shell, (context) => settle(shell, context, requests, resolution, options));
      else if (options.lookUp) {
        // What speaks to the service is most of what the command would load.
        const { lookUp } = await import('../look-up.ts');
        await withLedger(shell, (context) => lookUp(shell, context, requests, options));
      } else await withLedgerToRead(shell, (context) => list(shell, context, requests, options));
    });
}

type ResolveOptions = {
  readonly request?: readonly string[];
  readonly accepted?: true;
  readonly resend?: true;
  readonly abandon?: true;
  readonly lookUp?: true;
  readonly reason?: string;
  readonly by?: string;
  readonly json?: true;
};

const actions = ['accepted', 'resend', 'abandon', 'lookUp'] as const;

function action(name: (typeof actions)[number], description: string): Option {
  const others = actions.filter((other) => other !== name);
  return new Option(`--${name === 'lookUp' ? 'look-up' : name}`, description).conflicts(others);
}

/** @throws InputError when a word comes without its reason, or a reason without a word */
function resolutionOf({ accepted, resend, abandon, reason, by }: ResolveOptions): Resolution | undefined {
  const resolution = accepted ? 'accepted' : resend ? 'resend' : abandon ? 'abandon' : undefined;
  if (resolution === undefined && (reason !== undefined || by !== undefined)) {
    const what = 'It belongs to --accepted, --resend or --abandon; say which.';
    throw new InputError([{ where: reason === undefined ? '--by' : '--reason', what }]);
  }
  if (resolution !== undefined && !reason?.trim()) {
    const what = `--${resolution} needs a reason, such as --reason "seen in the service's own list".`;
    throw new InputError([{ where: '--reason', what }]);
  }
  return resolution;
}

/** So many are listed for people. */
const listed = 100;

async function list(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  { json }: ResolveOptions,
): Promise<void> {
  let doubts = 0;
  for await (const page of await listNamedDoubts(context, requests)) {
    if (json) shell.print(page.map((doubt) => JSON.stringify(formatReasonOf(doubt))).join('\n'));
    else if (doubts === 0) shell.print(doubtTable(page.slice(0, listed), shell.screen));
    doubts += page.length;
  }
  if (json) return;
  if (doubts === 0) {
    shell.print(`No request of run ${requests.run} is in doubt.`);
    return;
  }
  if (doubts > listed) shell.note(`The first ${listed} of ${doubts}; --json lists all.`);
  shell.note(
    `volley resolve ${requests.run} --look-up asks the service; --accepted, --resend or --abandon with --reason "…" settles them.`,
  );
}

async function settle(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  resolution: Resolution,
  { by = context.actor.name, reason = '', json }: ResolveOptions,
): Promise<void> {
  const resolved = await resolveDoubts(context, requests, { resolution, by, reason: reason.trim() });
  const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
  const result = { run: requests.run, resolution, requests: resolved.length, recipients };
  shell.print(json ? JSON.stringify(result) : formatResolved(result));
}
