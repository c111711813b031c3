import { InputError, type Problem } from '../../domain/problems.ts';
import { findOrigins, findRelatives, type OriginRun } from '../../ledger/planning/remove-reached.ts';
import type { EngineContext } from '../context.ts';

/**
 * The runs that rejected these contacts before an operator fixed them. A result file names them (column "Volley
 * Run"), or the operator does.
 */
export type Origins = {
  /** The runs that the new run continues. */
  readonly runs: readonly string[];
  /** Runs of other campaigns in the contact files. Their message differs, so their recipients are not duplicates. */
  readonly others: readonly string[];
  /** All runs whose recipients are not sent to again: `runs`, their ancestors and descendants. */
  readonly relatives: readonly OriginRun[];
};

export const noOrigins: Origins = { runs: [], others: [], relatives: [] };

/** @throws InputError for a run that does not exist, or whose recipients have been purged */
export async function readOrigins(
  client: EngineContext['ledger']['pool'] | Parameters<typeof findOrigins>[0],
  campaign: string,
  named: string | undefined,
  inFiles: ReadonlySet<string>,
): Promise<Origins> {
  if (named === undefined && inFiles.size === 0) return noOrigins;
  const requested = [...new Set([...(named === undefined ? [] : [named]), ...inFiles])];
  const known = new Map((await findOrigins(client, requested)).map((each) => [each.run, each]));
  const problems = requested.flatMap((run): Problem[] => {
    const origin = known.get(run);
    const where = run === named ? '--of' : `column "Volley Run"`;
    if (!origin) return [{ where, what: unknownOriginText(run) }];
    if (origin.kind === 'test') return [{ where, what: testOriginText(run) }];
    if (run !== named || origin.campaign === campaign) return [];
    const what = `Run ${run} belongs to campaign "${origin.campaign}", not to "${campaign}". Name a run of this campaign.`;
    return [{ where, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
  const runs = requested.filter((run) => known.get(run)?.campaign === campaign);
  const relatives = await findRelatives(client, runs);
  const purged = relatives.filter((each) => each.purged).map(({ run }) => run);
  if (purged.length > 0) {
    const what = `The contacts come from a purged run (${purged.join(', ')}), so Volley does not know which of them it reached. Remove the column "Volley Run" to send to all.`;
    throw new InputError([{ where: 'contacts', what }]);
  }
  return {
    runs,
    others: requested.filter((run) => !runs.includes(run)),
    relatives,
  };
}

function unknownOriginText(run: string): string {
  return `There is no run "${run}" in this ledger, so Volley does not know which contacts it reached. Use the ledger of that run; \`volley runs\` lists its runs.`;
}

export function testOriginText(run: string): string {
  return `Run ${run} is a test: it sent nothing to the recipients of its rows. \`volley run <campaign>\` sends to them, and with --test-to it makes another test.`;
}
