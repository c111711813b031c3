/** Bytes of the bodies in a block, without its last one. */
export const maxBlockBytes = 1024 * 1024;

/** A block's ids are `report_ids`' next number and those after it, up to the next one. */
export const maxBlockCalls = 256;

/**
 * SQL: further clauses of a `WITH`, and the statement, which add calls to the inbox in blocks, and each block to the queue.
 *
 * @param calls rows of `index` (the order), `account`, `received_at`, `method`, `content_type`, `headers` and `body`
 * @param dueAt an expression over the block
 */
export const storeAndQueue = (calls: string, dueAt: string): string => `block AS (
    SELECT ${arrays('index')}
    FROM (
      SELECT *, sum(octet_length(body)) OVER in_order AS bytes_so_far, row_number() OVER in_order AS place
      FROM ${calls}
      WINDOW in_order AS (ORDER BY index ROWS UNBOUNDED PRECEDING)
    ) sized
    GROUP BY div(bytes_so_far, ${maxBlockBytes}), div(place - 1, ${maxBlockCalls})
    ORDER BY min(index)
  ), stored AS (
    INSERT INTO inbox_blocks (first_report, ${columns})
    SELECT nextval('report_ids'), *
    FROM block
    RETURNING first_report, calls, bytes, first_received_at
  )
  ${queueBlocks(dueAt)}`;

/** SQL: a statement that adds the blocks of the clause `stored` to the queue. */
export const queueBlocks = (dueAt: string): string => `
  INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes)
  SELECT ${dueAt}, first_report, first_report + calls - 1, calls, bytes
  FROM stored
  ORDER BY first_report`;

/** SQL: what `arrays` returns. */
const columns =
  'calls, bytes, first_received_at, last_received_at, accounts, received_at, methods, content_types, headers, bodies';

/** SQL: calls as the arrays of a block. */
const arrays = (order: string): string => `
           count(*), sum(octet_length(body)), min(received_at), max(received_at), array_agg(account ORDER BY ${order}),
           array_agg(received_at ORDER BY ${order}), array_agg(method ORDER BY ${order}),
           array_agg(content_type ORDER BY ${order}), array_agg(headers ORDER BY ${order}), array_agg(body ORDER BY ${order})`;

/** SQL: adds blocks of calls that keep their ids. @param calls rows of `into_report` (the block) and of `calls_in` */
export const storeWithIds = (calls: string): string => `
    INSERT INTO inbox_blocks (first_report, offsets, ${columns})
    SELECT into_report, array_agg(report_id - into_report ORDER BY report_id), ${arrays('report_id')}
    FROM ${calls}
    GROUP BY into_report`;
