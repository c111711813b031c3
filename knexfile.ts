import { knexConfiguration } from './src/ledger/connection.ts';
import { leaseDatabase } from './src/platform/database.ts';

/** For `npx knex migrate:latest` and its like: the same database and migrations as `volley db migrate`. */
export default async function configuration() {
  // The lease ends with the process: knex's command line gives no other moment.
  const { connection } = await leaseDatabase(process.env, process.cwd(), true);
  return knexConfiguration(connection);
}
