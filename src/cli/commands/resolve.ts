import { InputError } from '../../domain/problems.ts';
import type { Resolution } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { NamedRequests } from '../../engine/runs/resolve-doubts.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { parsePerson } from '../option-readers.ts';
import { lookUpExits, runArgument } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

const actions = ['accepted', 'resend', 'abandon', 'lookUp'] as const;

const otherThan = (name: (typeof actions)[number]) => ({
  conflicts: actions.filter((other) => other !== name),
});

export const command = defineCommand({
  description:
    'Lists requests in doubt (which may have reached the service), looks them up, or records your decision.',
  arguments: [argument('<run>', runArgument)],
  options: [
    option('--request <request...>', 'only these, by number or MessageID'),
    option('--answer <words>', 'only those with this answer, such as "HTTP 404"', { conflicts: ['request'] }),
    flag('--accepted', 'the service has them', otherThan('accepted')),
    flag('--resend', 'send them again; recipients can get the message twice', otherThan('resend')),
    flag('--abandon', 'give them up; their recipients stay unknown', otherThan('abandon')),
    flag('--look-up', 'ask the service about each, one a second', otherThan('lookUp')),
    option('--reason <words>', 'why, for --accepted, --resend or --abandon'),
    option('--by <name>', 'the person who decides (default: user@host)', { read: parsePerson }),
    flag('--json', 'print JSON; a list as one object a line'),
  ],
  exits: {
    3: 'with --look-up: a request is still in doubt',
    ...lookUpExits,
  },
  examples: [
    ['volley resolve latest', 'list the requests in doubt'],
    ['volley resolve latest --look-up', 'ask the service about them'],
  ],
  run: async (shell, [name], { request: named, answer, lookUp: isAsked, json, reason, by, ...decision }) => {
    const { chooseRun } = await import('../runs/choose-run.ts');
    const requestsOf = async (context: EngineContext): Promise<NamedRequests> => ({
      run: await chooseRun(shell, context, name),
      named,
      answer,
    });
    const resolution = resolutionOf(decision);
    if (resolution !== undefined) {
      const { resolveDoubts } = await import('../../engine/runs/resolve-doubts.ts');
      const { formatResolved } = await import('../../report/look-up-words.ts');
      const why = requireReason(resolution, reason);
      await withLedger(shell, async (context) => {
        const requests = await requestsOf(context);
        const decided = { resolution, by: by ?? context.actor.name, reason: why };
        const resolved = await resolveDoubts(context, requests, decided);
        const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
        const result = { run: requests.run, resolution, requests: resolved.length, recipients };
        shell.print(json ? JSON.stringify(result) : formatResolved(result));
      });
      return;
    }
    if (reason !== undefined || by !== undefined) {
      const what = 'It needs one of --accepted, --resend and --abandon.';
      throw new InputError([{ where: reason === undefined ? '--by' : '--reason', what }]);
    }
    if (!isAsked) {
      await withLedgerToRead(shell, async (context) =>
        listRequests(shell, context, await requestsOf(context), json === true),
      );
      return;
    }
    await withLedger(shell, async (context) => lookUp(shell, context, await requestsOf(context), json));
  },
});

async function lookUp(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  json: true | undefined,
): Promise<void> {
  const { askAboutDoubts } = await import('../../engine/runs/ask-about-doubts.ts');
  const { printable } = await import('../../report/printable.ts');
  const { printLookUps } = await import('../runs/print-look-ups.ts');
  await printLookUps(shell, { run: requests.run, json }, async () => {
    const { end } = await askAboutDoubts(context, shell.settings, requests, {
      stop: shell.stop,
      onAnswer: (doubt, answer) => {
        if (answer.kind === 'unclear') shell.note(`request ${doubt.request}: ${printable(answer.reason)}`);
      },
    });
    return end;
  });
}

function resolutionOf(decision: { readonly [Each in Resolution]?: true }): Resolution | undefined {
  const { accepted, resend, abandon } = decision;
  return accepted ? 'accepted' : resend ? 'resend' : abandon ? 'abandon' : undefined;
}

function requireReason(resolution: Resolution, reason = ''): string {
  if (reason.trim() !== '') return reason.trim();
  const what = `--${resolution} needs a reason, such as --reason "seen in the service's own list".`;
  throw new InputError([{ where: '--reason', what }]);
}

const maxTableRows = 100;

async function listRequests(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  json: boolean,
): Promise<void> {
  const { listNamedDoubts } = await import('../../engine/runs/resolve-doubts.ts');
  const { doubtColumns } = await import('../../report/lists/failures.ts');
  const { formatTable } = await import('../../report/table.ts');
  const { jsonLines } = await import('../output/print-list.ts');
  let doubts = 0;
  for await (const page of await listNamedDoubts(context, requests)) {
    if (json) shell.print(jsonLines(doubtColumns, page));
    else if (doubts === 0) shell.print(formatTable(doubtColumns, page.slice(0, maxTableRows), shell.screen));
    doubts += page.length;
  }
  if (json) return;
  if (doubts === 0) {
    shell.print(`No request of run ${requests.run} is in doubt.`);
    return;
  }
  if (doubts > maxTableRows)
    shell.note(
      `The table has the first ${maxTableRows} of ${doubts.toLocaleString('en')} requests; --json lists all.`,
    );
  const ask = (await hasLookUp(shell, context, requests.run))
    ? `\`volley resolve ${requests.run} --look-up\` asks the service. `
    : '';
  shell.note(`${ask}--accepted, --resend or --abandon with --reason "…" resolves them.`);
}

/** False for an account that cannot be read: the command that asks says why. */
async function hasLookUp(shell: Shell, context: EngineContext, run: string): Promise<boolean> {
  const { requireRun } = await import('../../engine/runs/find-run.ts');
  const { account } = await requireRun(context, run);
  const { loadAccount } = await import('../../engine/load-definition.ts');
  return loadAccount(account, shell.settings).then(
    ({ statusLookUp }) => statusLookUp,
    () => false,
  );
}
