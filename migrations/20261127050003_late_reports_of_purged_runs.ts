import type { Knex } from 'knex';

/**
 * A delivery report that comes after a purge still finds its recipient's position, and so its payer and price. The
 * address is gone; a mark of two bytes is left of it, which many addresses share.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE contents ADD COLUMN address_marks smallint[];
    COMMENT ON COLUMN contents.address_marks IS
      'Of a purged run: a mark for each recipient (address_mark), by which a late delivery report finds its position.';

    CREATE FUNCTION address_mark(message_key bytea, address text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (
      SELECT CAST(get_byte(digest, 0) * 256 + get_byte(digest, 1) - 32768 AS smallint)
      FROM (SELECT sha256(message_key || convert_to(ltrim(lower(address), '+'), 'UTF8')) AS digest) d
    );
    COMMENT ON FUNCTION address_mark IS
      'Two bytes of a digest with the run''s key: one of 65,536 addresses has the same mark, so it tells nothing about a '
      'person, but nearly always tells the recipients of one request apart.';
  `);
  await createContentsBetween(knex);
  await createPositionOf(
    knex,
    `,
        CASE WHEN c.address_marks IS NOT NULL THEN (
          SELECT r.position
          FROM unnest(c.request_offsets, c.positions, c.address_marks) AS r (request_offset, position, mark)
          WHERE c.first_request + r.request_offset = position_of.request
            AND r.mark = (
              SELECT address_mark(u.message_key, position_of.address) FROM runs u WHERE u.run_id = position_of.run
            )
          ORDER BY EXISTS (
            SELECT FROM recipient_outcomes o
            WHERE o.run_id = position_of.run AND o.request = position_of.request AND o.position = r.position
          ), r.position
          LIMIT 1
        ) END`,
    'The position of a recipient in a request, by address. Case and plus sign may differ where no address is ' +
      'identical. In a purged run it is found by the mark of the address.',
  );
}

export async function down(knex: Knex): Promise<void> {
  await createPositionOf(
    knex,
    '',
    'The position of a recipient in a request, by address. Case and plus sign may differ where no address is identical.',
  );
  // Views stand on this function, and the function on the column.
  await createContentsBetween(
    knex,
    `run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines, addresses,
             original_addresses, parts, tariffs, destinations, CAST(NULL AS smallint[])`,
  );
  await knex.raw('DROP FUNCTION address_mark; ALTER TABLE contents DROP COLUMN address_marks');
  await createContentsBetween(knex);
}

/** As before: its result has the columns of the table, so it is made again after a change of them. */
async function createContentsBetween(knex: Knex, columns = '*'): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION contents_between(run text, first integer, last integer) RETURNS SETOF contents
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT ${columns}
      FROM contents c
      WHERE c.run_id = run AND c.last_request >= first
        AND c.first_request BETWEEN coalesce((
          SELECT b.first_request
          FROM contents b
          WHERE b.run_id = run AND b.first_request <= first
          ORDER BY b.first_request DESC
          LIMIT 1
        ), first) AND last
      OFFSET 0; -- a lookup for each row of the caller; inlined, it would read all blocks of a run
    END;
  `);
}

/** @param byMark SQL: what is tried after the address */
async function createPositionOf(knex: Knex, byMark: string, comment: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION position_of(run text, request integer, address text) RETURNS TABLE ("position" integer)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT CAST(coalesce(
        (
          SELECT c.positions[i]
          FROM unnest(array_positions(c.addresses, position_of.address)) AS i
          WHERE c.first_request + c.request_offsets[i] = position_of.request
          LIMIT 1
        ),
        (
          SELECT r.position
          FROM unnest(c.request_offsets, c.positions, c.addresses) AS r (request_offset, position, address)
          WHERE c.first_request + r.request_offset = position_of.request
            AND ltrim(lower(r.address), '+') = ltrim(lower(position_of.address), '+')
          ORDER BY r.position
          LIMIT 1
        )${byMark}
      ) AS integer)
      FROM contents_between(run, position_of.request, position_of.request) c;
    END;
    COMMENT ON FUNCTION position_of IS '${comment}';
  `);
}
