import { join } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import {
  findStartedByKey,
  inStartKey,
  recordStartKey,
  type StartedByKey,
  type StartKey,
} from '../../ledger/runs/made-once.ts';
import { digestOf } from '../../platform/digest.ts';
import type { EngineContext } from '../context.ts';
import { loadCampaign } from '../load-definition.ts';
import { planAnewText } from '../plan/compare-plan.ts';
import type { UnmovedFile } from '../plan/contact-patterns.ts';
import type { AlongsideRun } from '../plan/make-run.ts';
import type { PlanOptions } from '../plan/plan-run.ts';
import { type PlanRequest, proveAsPlanned } from '../plan/planned-campaign.ts';
import type { PreparedCampaign } from '../plan/prepare-campaign.ts';
import { planRerun, type Rerun } from '../plan/rerun.ts';
import { type CampaignToStart, startCampaign } from '../plan/start-campaign.ts';
import { type PlanProgress, planStart, type StartPlan } from '../plan/start-plan.ts';
import { startUnlessWaiting } from '../runs/begin-run.ts';
import { listCampaigns } from '../schedule/schedule-folder.ts';
import type { CampaignSource } from '../schedule/start-ticks.ts';
import type { Settings } from '../settings.ts';

export type StartResult =
  | { readonly kind: 'planned'; readonly run: string }
  | { readonly kind: 'repeated'; readonly run: string }
  | { readonly kind: 'under way' }
  | { readonly kind: 'key of another'; readonly run: string };

type Starter = {
  readonly campaignSource: Pick<CampaignSource, 'accountNamed'>;
  /** `plan` limits the plans that are made at once. */
  readonly limits: { readonly plan: <Result>(plan: () => Promise<Result>) => Promise<Result> };
};

export type Start =
  | (Extract<StartResult, { kind: 'planned' | 'repeated' }> & { readonly waitsForApproval: boolean })
  | Extract<StartResult, { kind: 'under way' | 'key of another' }>;

/**
 * Starts a run for a call of the API or a form: plans it once per key, and begins it unless it waits for approval.
 * Workers send it.
 *
 * @param plan ends as `startByKey` or `rerunByKey` does
 */
export async function startOnce(
  context: EngineContext,
  { campaignSource, limits }: Starter,
  plan: () => Promise<StartResult>,
): Promise<Start> {
  const end = await limits.plan(plan);
  if (end.kind !== 'planned' && end.kind !== 'repeated') return end;
  const waitsForApproval = await startUnlessWaiting(context, end.run, campaignSource.accountNamed);
  return { ...end, waitsForApproval };
}

/**
 * Plans one run per key: both are committed together.
 *
 * @param request what is asked: the key of another request is refused
 * @param plan gets the function that records the key, for the transaction that plans the run
 * @param refuse says that the token is not, or no longer, valid for the account of the run
 */
async function oncePerKey(
  { ledger: { pool } }: Pick<EngineContext, 'ledger'>,
  { token, key: name, request: asked }: StartKey & { readonly request: object },
  plan: (recordKey: AlongsideRun) => Promise<string>,
  refuse: () => never,
): Promise<StartResult> {
  const key = { token, key: name };
  const request = digestOf(JSON.stringify(asked));
  const recordKey: AlongsideRun = async (client, run) => {
    if (!(await recordStartKey(client, key, { run, request }))) refuse();
  };
  const before = await findStartedByKey(pool, key);
  if (before) return toRepeatedStart(before, request);
  const start = async (): Promise<StartResult> => {
    try {
      // Another process may have started it before we held the lock.
      const meanwhile = await findStartedByKey(pool, key);
      return meanwhile
        ? toRepeatedStart(meanwhile, request)
        : { kind: 'planned', run: await plan(recordKey) };
    } catch (error) {
      // A lost session loses its lock, so another process may have started the run.
      const concurrent = await findStartedByKey(pool, key);
      if (concurrent) return toRepeatedStart(concurrent, request);
      throw error;
    }
  };
  return (await inStartKey(pool, key, start)) ?? { kind: 'under way' };
}

function toRepeatedStart({ run, request }: StartedByKey, requested: Buffer): StartResult {
  return { kind: request.equals(requested) ? 'repeated' : 'key of another', run };
}

export type CampaignChoice = {
  readonly campaign: string;
  readonly accounts: readonly string[] | null;
};

/** What a person has decided about on the page of the plan. */
export type DecidedPlan = Pick<StartPlan, 'proof' | 'repeats'>;

export type StartRequest = StartKey &
  CampaignChoice &
  Pick<CampaignToStart, 'contactFiles' | 'list' | 'testTo' | 'testRow'> & {
    /** The run sends exactly this, or is refused. Undefined: what the campaign says now. */
    readonly plan?: DecidedPlan;
  };

export type StartRun = (context: EngineContext, request: StartRequest) => Promise<StartResult>;

/**
 * Starts one run per key: both are committed together.
 *
 * @param accounts allowed accounts; null for all
 * @throws InputError when the campaign is unknown or faulty
 * @throws NothingNewError when every matching contact file has already run
 */
export async function startByKey(
  context: EngineContext,
  source: CampaignSource,
  { campaign, accounts, plan: decided, token, key, ...choices }: StartRequest,
  onUnmoved: (file: UnmovedFile) => void,
): Promise<StartResult> {
  const plan = async (alongside: AlongsideRun): Promise<string> => {
    const path = await requireCampaign(source, { campaign, accounts });
    const start = { path, settings: source.settings, ...choices };
    const { run, unmoved } = await startCampaign(context, start, (prepared) =>
      // A new key asks for a new run.
      decided ? proveDecided(decided, prepared, alongside) : { again: true, alongside },
    );
    for (const file of unmoved) onUnmoved(file);
    return run;
  };
  // The file may name another account by now.
  const request = { campaign, ...choices, ...(decided && { plan: decided.proof.id }) };
  return oncePerKey(context, { token, key, request }, plan, () => refuseCampaign(accounts ?? []));
}

function proveDecided(
  { proof: plan, repeats }: DecidedPlan,
  prepared: PreparedCampaign,
  alongside: AlongsideRun,
): PlanOptions {
  const place = { name: prepared.path };
  const proving = proveAsPlanned({ plan, place, next: planAnewText }, prepared);
  return {
    seenRepeat: repeats,
    proof: proving.proof,
    alongside: async (client, run) => {
      await alongside(client, run);
      await proving.alongside(client, run);
    },
  };
}

/**
 * @returns the path of the file
 * @throws InputError when there is none of these accounts
 */
export async function requireCampaign(
  { folder, settings }: Pick<CampaignSource, 'folder' | 'settings'>,
  { campaign, accounts }: CampaignChoice,
): Promise<string> {
  const known = await listCampaigns(folder, settings);
  const path = join(folder, campaign);
  if (accounts !== null) {
    const account = known.includes(campaign) ? await accountOfCampaign(path, settings) : undefined;
    if (account === undefined || !accounts.includes(account)) refuseCampaign(accounts);
  } else if (!known.includes(campaign)) {
    const what = `There is no such campaign file. The files: ${known.join(', ') || 'none'}.`;
    throw new InputError([{ where: 'campaign', what }]);
  }
  return path;
}

/** @returns undefined for a faulty file */
async function accountOfCampaign(path: string, settings: Settings): Promise<string | undefined> {
  try {
    return (await loadCampaign(path, settings)).value.account;
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Reveals nothing about campaigns of other accounts. */
function refuseCampaign(accounts: readonly string[]): never {
  const what = `There is no such campaign file of account ${accounts.join(' or ')}, or it is faulty (\`volley plan --check\`).`;
  throw new InputError([{ where: 'campaign', what }]);
}

type RerunRequest = StartKey & Required<Omit<Rerun, 'alongside' | 'row'>> & Pick<Rerun, 'row'>;

/**
 * Plans one rerun per key: both are committed together.
 *
 * @throws InputError as `planRerun` does, or when the token is no longer valid
 */
export async function rerunByKey(
  context: EngineContext,
  { of, states, row, account, reason, plan, ...key }: RerunRequest,
): Promise<StartResult> {
  return oncePerKey(
    context,
    { ...key, request: { of, only: states, plan: plan.id } },
    (alongside) => planRerun(context, { of, states, row, account, reason, plan, alongside }),
    () => {
      const what = `Your token may no longer start runs of account ${account.name}.`;
      throw new InputError([{ where: `run ${of}`, what }]);
    },
  );
}

/** A campaign to plan for a person. `fromRow`: number of the first row whose message the person asks for. */
export type CampaignToPlan = CampaignChoice & PlanRequest & { readonly fromRow: number };

/** @param stop ends the planning */
export type PlanCampaign = (
  context: EngineContext,
  request: CampaignToPlan,
  progress: { readonly onProgress: (progress: PlanProgress) => void; readonly stop: AbortSignal },
) => Promise<StartPlan>;

/**
 * Plans a campaign for the page that starts it.
 *
 * @throws InputError and NothingNewError as `planStart` does, or when the campaign is of another account
 */
export async function planCampaign(
  context: EngineContext,
  source: Pick<CampaignSource, 'folder' | 'settings'>,
  { campaign, accounts, fromRow, ...request }: CampaignToPlan,
  { onProgress, stop }: Parameters<PlanCampaign>[2],
): Promise<StartPlan> {
  const path = await requireCampaign(source, { campaign, accounts });
  return planStart(context, { ...request, path, settings: source.settings }, fromRow, (progress) => {
    stop.throwIfAborted();
    onProgress(progress);
  });
}
