import type { Channel } from '../../domain/message.ts';
import type { SuppressedReason } from '../../domain/reasons.ts';
import type { DuplicateContacts } from '../../domain/rejected-contacts.ts';
import { repeatedReason, type Stored, suppressedReason } from '../reasons.ts';
import { rejectionDetailOf } from '../runs/rejection-detail.ts';
import type { Transaction } from '../session.ts';
import type { LeftOutCounts, PlannedRun } from './planned-run.ts';

const maxExamples = 3;

/** Counts the contacts that expansion rejected, with some of them. */
export async function countLeftOut(
  client: Transaction,
  { channel, identity: { key } }: Pick<PlannedRun, 'channel' | 'identity'>,
): Promise<Omit<LeftOutCounts, 'reached' | 'beyondLimit'>> {
  const { rows } = await client.query<
    Omit<LeftOutCounts, 'reached' | 'beyondLimit' | 'repeated' | 'suppressedBecause'> & {
      readonly repeated: Omit<DuplicateContacts, 'examples'>;
    }
  >(
    `
    SELECT count(*) FILTER (WHERE reason = 'duplicate')::integer AS duplicate,
           count(*) FILTER (WHERE reason = 'suppressed')::integer AS suppressed,
           json_build_object(
             'rows', count(*) FILTER (WHERE differs IS NOT NULL),
             'differing', count(*) FILTER (WHERE differs)
           ) AS repeated
    FROM left_out
    `,
  );
  const { rows: examples } = await client.query<Stored<DuplicateContacts['examples'][number], 'detail'>>(
    `
    SELECT line, ${rejectionDetailOf('l', 'NULL', '$2::jsonb')} AS detail
    FROM left_out l
    WHERE differs IS NOT NULL
    ORDER BY NOT differs, line
    LIMIT $1
    `,
    [maxExamples, JSON.stringify(key)],
  );
  const { repeated, ...counts } = rows[0] ?? {
    duplicate: 0,
    suppressed: 0,
    repeated: { rows: 0, differing: 0 },
  };
  const shown = examples.map(({ line, detail }) => ({ line, detail: repeatedReason(detail) }));
  const suppressedBecause = counts.suppressed === 0 ? [] : await listSuppressedReasons(client, channel);
  return { ...counts, suppressedBecause, repeated: { ...repeated, examples: shown } };
}

async function listSuppressedReasons(client: Transaction, channel: Channel): Promise<SuppressedReason[]> {
  const { rows } = await client.query<Stored<{ readonly detail: SuppressedReason }>>(
    `
    SELECT ${rejectionDetailOf('l', '$2::text', 'NULL')} AS detail
    FROM left_out l
    WHERE reason = 'suppressed'
    ORDER BY line
    LIMIT $1
    `,
    [maxExamples, channel],
  );
  return rows.map(({ detail }) => suppressedReason(detail));
}
