/**
 * SQL: the columns of `contents` from rows of `request`, `position`, `line`, `address`, `original_address`, `parts`,
 * `tariff` and `destination` (null: {}). A column without any value is NULL.
 */
export const recipientArrays = `
  coalesce(array_agg(line ORDER BY request, position), '{}') AS lines,
  coalesce(array_agg(address ORDER BY request, position), '{}') AS addresses,
  CASE WHEN count(original_address) > 0 THEN
    array_agg(original_address ORDER BY request, position)
  END AS original_addresses,
  CASE WHEN count(parts) > 0 THEN array_agg(parts ORDER BY request, position) END AS parts,
  CASE WHEN count(tariff) > 0 THEN array_agg(tariff ORDER BY request, position) END AS tariffs,
  CASE WHEN bool_or(CAST(destination AS text) <> '{}') THEN
    '[' || string_agg(coalesce(CAST(destination AS text), '{}'), E',\\n' ORDER BY request, position) || ']'
  END AS destinations`;
