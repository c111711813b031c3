import type { Campaign } from '../../campaign/campaign.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { leftOutGroups, leftOutWords } from '../../domain/rejected-contacts.ts';
import { count } from '../../platform/sentence.ts';
import type { Leaves, ProvablePlan } from './plan-file.ts';

/** The next step where a page shows the plan. */
export const planAnewText = 'Plan it anew to see what would be sent now.';

type CompareContext = {
  /** The plan file, as the operator named it. */
  readonly planFile: string;
  /** A sentence: how the operator sees what would be sent now. */
  readonly next: string;
  readonly account: string;
  readonly locate: Campaign['locate'];
  /** The paths of attachments, by their digests. */
  readonly attachmentOf: (digest: string) => string | undefined;
};

/** @throws InputError with everything that has changed since the plan */
export function comparePlans(planned: ProvablePlan, now: ProvablePlan, context: CompareContext): void {
  const problems = [
    ...leafProblems(planned.inputs.campaign, now.inputs.campaign, (path) => ({
      where: context.locate(path.split('.')),
      name: `"${path}"`,
    })),
    ...leafProblems(planned.inputs.account, now.inputs.account, (path) => ({
      where: `account ${context.account}`,
      name: `"${path}"`,
    })),
    ...contactFileProblems(planned, now),
    ...attachmentProblems(planned, now, context),
    ...resultProblems(planned, now, context.planFile),
  ];
  if (problems.length === 0) return;
  const version =
    planned.volley === now.volley
      ? ''
      : ` Volley ${planned.volley} made the plan; this is ${now.volley}, and may plan in another way.`;
  const what = `What would be sent has changed since the plan, so nothing was sent.${version} ${context.next}`;
  throw new InputError([...problems, { where: context.planFile, what }]);
}

type LeafPlace = { readonly where: string; readonly name: string };

function leafProblems(planned: Leaves, now: Leaves, placeOf: (path: string) => LeafPlace): Problem[] {
  return [...new Set([...Object.keys(planned), ...Object.keys(now)])].flatMap((path): Problem[] => {
    const [before, after] = [planned[path], now[path]];
    if (before === after) return [];
    const { where, name } = placeOf(path);
    const change = before === undefined ? 'is new' : after === undefined ? 'was removed' : 'has changed';
    return [{ where, what: `${name} ${change} since the plan.` }];
  });
}

function contactFileProblems(planned: ProvablePlan, now: ProvablePlan): Problem[] {
  return now.inputs.contactFiles.flatMap(({ name, sha256, rows }, file): Problem[] => {
    const before = planned.inputs.contactFiles[file];
    // Other names are changes of the campaign.
    if (before === undefined || before.sha256 === sha256) return [];
    const difference = rows - before.rows;
    const change =
      difference === 0
        ? `it still has ${count(rows, 'row')}, but not the same`
        : `it has ${count(rows, 'row')}, ${Math.abs(difference)} ${difference > 0 ? 'more' : 'fewer'} than in the plan`;
    return [{ where: name, what: `The contact file has changed since the plan: ${change}.` }];
  });
}

function attachmentProblems(
  planned: ProvablePlan,
  now: ProvablePlan,
  { planFile, attachmentOf }: CompareContext,
): Problem[] {
  const before = planned.inputs.attachments;
  const after = now.inputs.attachments;
  const named = Object.keys(after).flatMap((digest): Problem[] => {
    if (before[digest] === after[digest]) return [];
    const where = attachmentOf(digest) ?? planFile;
    const change = before[digest] === undefined ? 'is new' : 'has changed';
    return [{ where, what: `The attached file ${change} since the plan.` }];
  });
  const gone = Object.keys(before).filter((digest) => after[digest] === undefined).length;
  const what = `${count(gone, 'attached file')} of the plan would not be sent.`;
  return gone === 0 ? named : [...named, { where: planFile, what }];
}

/** What the ledger and the time have changed, and what follows from all changes. */
function resultProblems(
  { result: planned }: ProvablePlan,
  { result: now }: ProvablePlan,
  where: string,
): Problem[] {
  const texts = [...new Set(Object.values(leftOutGroups))].flatMap((group) => {
    const difference = (now.leftOut.counts[group] ?? 0) - (planned.leftOut.counts[group] ?? 0);
    if (difference === 0) return [];
    const rows = count(Math.abs(difference), difference > 0 ? 'more row' : 'fewer row');
    return [`${rows} ${leftOutWords[group][Math.abs(difference) === 1 ? 0 : 1]} than in the plan.`];
  });
  const compare = (name: string, before: unknown, after: unknown): void => {
    if (before !== after) texts.push(`${name}: ${String(after)}; in the plan ${String(before)}.`);
  };
  compare('Rows that cannot be read', planned.invalid, now.invalid);
  compare('Rows that "contacts.where" excludes', planned.filtered, now.filtered);
  compare('Rows beyond the limit', planned.beyondLimit, now.beyondLimit);
  compare('Recipients', planned.recipients, now.recipients);
  compare('Requests', planned.requests, now.requests);
  compare('Rows whose SendTime is past, or empty', planned.pastSendTimes, now.pastSendTimes);
  compare('SMS parts', planned.smsParts, now.smsParts);
  compare('Estimated cost', planned.cost, now.cost);
  if (JSON.stringify(planned.windows) !== JSON.stringify(now.windows))
    texts.push('Recipients are in other sending windows or time zones than in the plan.');
  if (texts.length === 0 && planned.contents !== now.contents)
    texts.push('The values, addresses or order of rows differ from the plan.');
  if (texts.length === 0 && planned.leftOut.sha256 !== now.leftOut.sha256)
    texts.push('As many rows as in the plan are rejected, but other ones.');
  return texts.map((what) => ({ where, what }));
}
