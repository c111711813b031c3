import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { standardInput } from '../../campaign/contacts-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { hasEnded } from '../../domain/runs.ts';
import { findRunOfPlan, recordPlanOfRun } from '../../ledger/runs/made-once.ts';
import type { EngineContext } from '../context.ts';
import { comparePlans } from './compare-plan.ts';
import { maxPlanAge, type PlanFile, type ProvablePlan } from './plan-file.ts';
import type { PlanOptions } from './plan-run.ts';
import type { PreparationOptions, PreparedCampaign } from './prepare-campaign.ts';
import { digestOfText } from './prove-plan.ts';

/** What the operator asked of `volley plan`. Paths are relative to the working folder. */
export type PlanRequest = Pick<PreparationOptions, 'contactFiles' | 'list' | 'origin' | 'limit' | 'testTo'>;

/** Where a plan file is, and as the operator named it. */
export type PlanPlace = { readonly absolutePath: string; readonly name: string };

/** @throws InputError for contacts that a later run could not read again */
export function requireReadableAgain({ campaign }: Pick<PreparedCampaign, 'campaign'>): void {
  if (!campaign.value.contacts.file.includes(standardInput)) return;
  const what =
    'The contacts come from standard input, which `volley run --plan` could not read again. Put them into a file.';
  throw new InputError([{ where: '--out', what }]);
}

export function createPlan(
  { id, volley, inputs, result }: ProvablePlan,
  { madeAt, place }: { readonly madeAt: Date; readonly place: PlanPlace },
  prepared: PreparedCampaign,
  { contactFiles, origin, limit, testTo }: PlanRequest,
): PlanFile {
  const folder = dirname(place.absolutePath);
  const fromPlan = (name: string): string =>
    isAbsolute(name) ? name : relative(folder, resolve(prepared.workingFolder, name));
  return {
    format: 1,
    volley,
    id,
    madeAt: madeAt.toISOString(),
    campaign: relative(folder, prepared.absolutePath),
    contacts: contactFiles?.map(fromPlan) ?? null,
    of: origin ?? null,
    limit: limit ?? null,
    testTo: testTo ? [...testTo] : null,
    inputs,
    result,
  };
}

/** The campaign and options of a plan, as if the operator had given them. */
export function planRequestOf(
  plan: PlanFile,
  { absolutePath }: PlanPlace,
  workingFolder: string,
): PlanRequest & { readonly path: string } {
  const here = (name: string): string =>
    isAbsolute(name) ? name : relative(workingFolder, resolve(dirname(absolutePath), name));
  return {
    path: here(plan.campaign),
    contactFiles: plan.contacts?.map(here),
    origin: plan.of ?? undefined,
    limit: plan.limit ?? undefined,
    testTo: plan.testTo ?? undefined,
  };
}

/** @throws InputError when the plan is too old, or was run */
export async function requireRunnablePlan(
  { ledger, now }: EngineContext,
  plan: PlanFile,
  where: string,
): Promise<void> {
  const newPlan = '`volley plan --out` makes a new plan.';
  const refuse = (what: string, next = newPlan): never => {
    throw new InputError([{ where, what: `${what} ${next}` }]);
  };
  const found = await findRunOfPlan(ledger.pool, plan.id);
  if (found)
    refuse(
      `This plan was run: run ${found.run} is ${found.state}. A plan is run once.`,
      hasEnded(found.state) ? newPlan : `\`volley resume ${found.run}\` continues its run.`,
    );
  const hours = maxPlanAge / 3_600_000;
  if (now().getTime() - Date.parse(plan.madeAt) > maxPlanAge)
    refuse(`The plan was made at ${plan.madeAt}, and a plan can be run for ${hours} hours.`);
}

/**
 * Makes the run prove, before it is committed, that it sends what was planned.
 *
 * @param inSandbox whether it is sent to a sandbox of the command, whose address is another in each run
 */
export function proveAsPlanned(
  {
    plan,
    place,
    next = '`volley plan` shows what would be sent now.',
    inSandbox = false,
  }: {
    readonly plan: ProvablePlan;
    readonly place: Pick<PlanPlace, 'name'>;
    readonly next?: string;
    readonly inSandbox?: boolean;
  },
  prepared: PreparedCampaign,
): Required<Pick<PlanOptions, 'alongside' | 'proof'>> {
  return {
    alongside: async (client, run) => {
      if (await recordPlanOfRun(client, plan.id, run)) return;
      throw new InputError([
        {
          where: place.name,
          what: 'Another call made the run of this plan meanwhile. `volley runs` lists it.',
        },
      ]);
    },
    proof: {
      id: plan.id,
      check: (now, files) => {
        const paths = new Map([...files].map((path) => [digestOfText(plan.id, path), path]));
        comparePlans(inSandbox ? withAddressOf(now, plan) : plan, now, {
          planFile: place.name,
          next,
          account: prepared.account.name,
          locate: prepared.campaign.locate,
          attachmentOf: (digest) => paths.get(digest),
        });
      },
    },
  };
}

function withAddressOf({ inputs: now }: ProvablePlan, plan: ProvablePlan): ProvablePlan {
  const { baseUrl, ...account } = plan.inputs.account;
  const address = now.account['baseUrl'];
  return {
    ...plan,
    inputs: { ...plan.inputs, account: address === undefined ? account : { ...account, baseUrl: address } },
  };
}
