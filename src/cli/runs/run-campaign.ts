import { causesInTrials } from '../../campaign/test-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { findCampaign } from '../../engine/definition-files.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { planRequestOf, proveAsPlanned, requireRunnablePlan } from '../../engine/plan/planned-campaign.ts';
import type { PreparedCampaign } from '../../engine/plan/prepare-campaign.ts';
import { prepareToStart } from '../../engine/plan/start-campaign.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { MissingArgumentError, type OptionValues } from '../command.ts';
import type { campaignOptions } from '../options.ts';
import { type OpenedPlan, openPlan } from '../plans/plan-files.ts';
import type { Shell } from '../shell.ts';
import { chooseOrigin } from './choose-run.ts';
import { dispatchAndPrint } from './dispatch-and-print.ts';
import { startWithProgress } from './start-with-progress.ts';
import { withSurroundings } from './surroundings.ts';

type RunOptions = OptionValues<typeof campaignOptions> & {
  readonly json?: true;
  readonly again?: true;
  readonly plan?: string;
  readonly sandbox?: true;
};

export async function runCampaignOrPlan(
  shell: Shell,
  written: string | undefined,
  options: RunOptions,
): Promise<void> {
  const { plan, ...how } = options;
  if (plan !== undefined) return runPlan(shell, written, plan, how);
  if (written === undefined)
    throw new MissingArgumentError(
      '<campaign> is missing: the campaign file (YAML). A plan file is named with --plan, and `volley rerun <run>` sends again to recipients of a run.',
    );
  const path = await findCampaign(written, shell.settings);
  await runCampaign(shell, { path, contactFiles: options.contacts, ...options }, how);
}

/** The campaign and all choices are those of the plan. */
async function runPlan(shell: Shell, written: string | undefined, name: string, how: How): Promise<void> {
  if (written !== undefined) {
    const what = 'It has its campaign and its contacts, so name no campaign.';
    throw new InputError([{ where: '--plan', what }]);
  }
  const opened = await openPlan(shell, name);
  const { origin: of, ...choice } = planRequestOf(opened.plan, opened.place, shell.settings.workingFolder);
  await runCampaign(shell, { ...choice, of }, how, opened);
}

type How = { readonly [Name in 'json' | 'again' | 'sandbox']?: boolean };

type Choice = Pick<ReturnType<typeof planRequestOf>, 'path' | 'contactFiles' | 'limit' | 'testTo'> & {
  readonly of?: string | undefined;
};

/** @param opened the plan that the run must equal */
async function runCampaign(
  shell: Shell,
  { path, contactFiles, of, limit, testTo }: Choice,
  { json = false, again = false, sandbox = false }: How,
  opened?: OpenedPlan,
): Promise<void> {
  const findAccounts = async () => {
    const { accountsOfCampaign } = await import('./own-sandbox.ts');
    return accountsOfCampaign(path, shell.settings);
  };
  await withSurroundings(shell, sandbox, findAccounts, async ({ shell: around, open, awaitReports }) => {
    around.endOnStop('Stopped before the run was planned; nothing was sent.');
    const origin = await chooseOrigin(around, path, of);
    const start = { path, settings: around.settings, contactFiles, origin, limit, testTo };
    const checked = await prepareToStart(start);
    if (awaitReports) requireHarmlessTrial(checked);
    await requireReachable(checked.account);
    await open(async (context) => {
      if (opened) await requireRunnablePlan(context, opened.plan, opened.place.name);
      const started = await startWithProgress(around, context, { ...start, checked }, (prepared) => ({
        again,
        ...(opened && proveAsPlanned({ ...opened, inSandbox: sandbox }, prepared)),
      })).catch((error: unknown) => noteNothingNew(around, error));
      if (!started) return requireNoPlan(opened);
      const { run, prepared } = started;
      // An operator may have paused the run since it was planned.
      const how = { json, includePaused: false, awaitReports, ownCampaign: prepared.absolutePath };
      around.exitWith(await dispatchAndPrint(around, context, { run, account: prepared.account, ...how }));
    });
  });
}

/** A run in the sandbox counts like any other. It must not keep recipients from a real one. */
function requireHarmlessTrial({ campaign, account, matched, test }: PreparedCampaign): void {
  if (test) return;
  const refuse = (key: string, what: string): never => {
    throw new InputError([{ where: campaign.locate(['contacts', key]), what }]);
  };
  if (account.caps?.frequency.some(({ of }) => of === 'project')) {
    const what =
      'The accounts file has a "frequency" of all accounts, which would count messages to the sandbox, and a real run would leave their recipients out. Send a test with --test-to, which is not counted.';
    throw new InputError([{ where: campaign.locate(['account']), what }]);
  }
  if (matched.length > 0)
    refuse(
      'file',
      '"contacts.file" is a pattern. A run in the sandbox would use its files up, and a real run would skip them. Name a file with --contacts, or send a test with --test-to.',
    );
  for (const { countsSandbox: key } of Object.values(causesInTrials))
    if (key !== undefined && campaign.value.contacts[key] !== undefined)
      refuse(
        key,
        `"contacts.${key}" would count messages to the sandbox, and a real run would leave their recipients out. Send a test with --test-to, which is not counted.`,
      );
}

function requireNoPlan(opened: OpenedPlan | undefined): void {
  if (!opened) return;
  const what = 'Earlier runs have read the contact files of the plan meanwhile, so nothing was sent.';
  throw new InputError([{ where: opened.place.name, what }]);
}

/** @throws any other error than that earlier runs of the ledger have read all files of the pattern */
function noteNothingNew(shell: Shell, error: unknown): undefined {
  if (!(error instanceof NothingNewError)) throw error;
  shell.note(`${error.message} There is nothing to run.`);
}
