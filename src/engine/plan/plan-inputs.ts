import { createHmac } from 'node:crypto';
import type { Account } from '../../gateway/account.ts';
import type { PlanFacts } from './plan-facts.ts';
import type { Leaves, PlanFile } from './plan-file.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/** Makes the part of a plan that is compared; a run makes it again. */
export function comparedPart(
  id: string,
  prepared: PreparedCampaign,
  facts: PlanFacts,
): Pick<PlanFile, 'inputs' | 'result'> {
  const { rows, attachments, ...result } = facts;
  return {
    inputs: {
      campaign: toLeaves(id, prepared.campaign.value),
      account: toLeaves(id, withoutSecrets(prepared.account)),
      // A test reads only the beginning of the files; its rows are in the result.
      contactFiles: prepared.test
        ? []
        : prepared.contactFiles.map(({ name }, file) => ({
            name,
            sha256: prepared.kept.digestOf(file).toString('hex'),
            rows: rows[file] ?? 0,
          })),
      attachments: Object.fromEntries(
        [...attachments].map(([path, sha256]) => [digestOfText(id, path), sha256] as const).toSorted(),
      ),
    },
    result: { ...result, windows: [...result.windows] },
  };
}

/** The sender of a credential identifies a customer of the service. It is no secret. */
function withoutSecrets({ credentials, ...account }: Account): object {
  const { kind } = credentials;
  return { ...account, credentials: kind === 'authToken' ? { kind } : { kind, sender: credentials.sender } };
}

/** By path, such as `message.Message`; in the order of the paths. */
function toLeaves(id: string, value: unknown): Leaves {
  const found: [string, string][] = [];
  const visit = (each: unknown, path: readonly string[]): void => {
    if (typeof each === 'object' && each !== null) {
      for (const [key, inner] of Object.entries(each)) visit(inner, [...path, key]);
    } else found.push([path.join('.'), digestOfText(id, JSON.stringify(each))]);
  };
  visit(JSON.parse(JSON.stringify(value)), []);
  return Object.fromEntries(found.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The id makes the digests of one plan useless for another. */
export function digestOfText(id: string, text: string): string {
  return `sha256:${createHmac('sha256', id).update(text).digest('hex').slice(0, 32)}`;
}
