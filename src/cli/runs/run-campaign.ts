import { causesInTrials } from '../../campaign/test-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { findCampaign } from '../../engine/definition-files.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { planRequestOf, proveAsPlanned, requireRunnablePlan } from '../../engine/plan/planned-campaign.ts';
import type { PreparedCampaign } from '../../engine/plan/prepare-campaign.ts';
import { prepareToStart } from '../../engine/plan/start-campaign.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { readVersion } from '../../platform/package-folder.ts';
import { MissingArgumentError } from '../command.ts';
import { type OpenedPlan, openPlan } from '../plans/plan-files.ts';
import type { Shell } from '../shell.ts';
import { chooseOrigin } from './choose-run.ts';
import { dispatchAndPrint } from './dispatch-and-print.ts';
import { startWithProgress } from './start-with-progress.ts';
import { type Surroundings, withSurroundings } from './surroundings.ts';

type RunOptions = {
  readonly json?: true;
  readonly contacts?: readonly string[];
  readonly again?: boolean;
  readonly of?: string;
  readonly limit?: number;
  readonly testTo?: readonly string[];
  readonly plan?: string;
  readonly sandbox?: true;
};

type CampaignOptions = {
  readonly [Key in 'json' | 'contacts' | 'again' | 'of' | 'limit' | 'testTo']?: RunOptions[Key] | undefined;
};

/** `volley run`: a campaign, or a plan file. */
export async function runCampaignOrPlan(
  shell: Shell,
  written: string | undefined,
  options: RunOptions,
): Promise<void> {
  const { plan, sandbox } = options;
  if (plan !== undefined) await runPlan(shell, written, plan, options);
  else if (written === undefined)
    throw new MissingArgumentError(
      '<campaign> is missing: the campaign file (YAML). A plan file is named with --plan, and `volley rerun <run>` sends again to recipients of a run.',
    );
  else {
    const path = await findCampaign(written, shell.settings);
    await withSurroundings(shell, sandbox, accountsOf(path, shell), (around) =>
      runCampaign(around, path, options),
    );
  }
}

const accountsOf =
  (path: string, { settings }: Shell) =>
  async () => {
    const { accountsOfCampaign } = await import('./own-sandbox.ts');
    return accountsOfCampaign(path, settings);
  };

/** The campaign and all choices are those of the plan. */
async function runPlan(
  shell: Shell,
  path: string | undefined,
  name: string,
  { json, again, sandbox }: RunOptions,
): Promise<void> {
  if (path !== undefined) {
    const what = 'It has its campaign and its contacts, so name no campaign.';
    throw new InputError([{ where: '--plan', what }]);
  }
  const opened = await openPlan(shell, name);
  const {
    path: campaign,
    contactFiles,
    origin,
    limit,
    testTo,
  } = planRequestOf(opened.plan, opened.place, shell.settings.workingFolder);
  const options = { json, again, contacts: contactFiles, of: origin, limit, testTo };
  await withSurroundings(shell, sandbox, accountsOf(campaign, shell), (around) => {
    const open: Surroundings['open'] = (work) =>
      around.open(async (context) => {
        await requireRunnablePlan(context, opened.plan, name);
        await work(context);
      });
    return runCampaign({ ...around, open }, campaign, options, { ...opened, inSandbox: sandbox === true });
  });
}

/** @param opened the plan that the run must equal */
async function runCampaign(
  { shell, open, awaitReports }: Surroundings,
  path: string,
  { json, contacts: contactFiles, again = false, of, limit, testTo }: CampaignOptions,
  opened?: OpenedPlan & { readonly inSandbox: boolean },
): Promise<void> {
  shell.endOnStop('Stopped before the run was planned; nothing was sent.');
  const origin = await chooseOrigin(shell, path, of);
  const start = { path, settings: shell.settings, contactFiles, origin, limit, testTo };
  const checked = await prepareToStart(start);
  if (awaitReports) requireHarmlessTrial(checked);
  await requireReachable(checked.account);
  await open(async (context) => {
    const started = await startWithProgress(shell, context, { ...start, checked }, (prepared) => ({
      again,
      ...(opened && proveAsPlanned(opened, readVersion(), prepared)),
    })).catch((error: unknown) => noteNothingNew(shell, error));
    if (!started) return requireNoPlan(opened);
    const { run, prepared } = started;
    const how = {
      json: json === true,
      // An operator may have paused the run since it was planned.
      includePaused: false,
      awaitReports,
      ownCampaign: prepared.absolutePath,
    };
    shell.exitWith(await dispatchAndPrint(shell, context, { run, account: prepared.account, ...how }));
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
