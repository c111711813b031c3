import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { closeMonth, readMonth } from '../../engine/billing/billing.ts';
import { listClosings } from '../../ledger/billing/close.ts';
import type { BillingTotal } from '../../ledger/billing/report.ts';
import { timeZone as timeZoneName } from '../../platform/scalars.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { addAction } from '../base/actions.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { requireAllAccounts } from '../base/view.ts';
import { nameMonth } from './billing-form.ts';
import { monthAddress } from './months-page.ts';

type MonthToClose = { readonly month: string; readonly timeZone: string };

/** Closes a month for all accounts, so it is for sessions that see all of them. */
export function addCloseMonth(server: FastifyInstance): void {
  addAction(
    server,
    { path: '/billing/close', scope: 'admin' },
    {
      ask: async (view, { query }) => {
        requireAllAccounts(view);
        const asked = monthOf(query);
        const closings = await listClosings(view.context.ledger.pool);
        return {
          title: `Close ${nameMonth(asked.month)}`,
          button: `Close ${nameMonth(asked.month)}`,
          within: { href: '/billing/months', text: 'Closed months' },
          body: closingText(asked, await readMonth(view.context, asked), closings.length === 0),
        };
      },
      act: async (view, { query }, { reason = '' }) => {
        requireAllAccounts(view);
        const asked = monthOf(query);
        await closeMonth(view.context, { ...asked, closedBy: view.session.owner, reason });
        return { to: addressOfMonth(asked), notice: `${nameMonth(asked.month)} is closed.` };
      },
    },
  );
}

/** @throws InputError */
function monthOf(fields: Fields): MonthToClose {
  const [month, zone] = [textIn(fields, 'month'), textIn(fields, 'timeZone')];
  const parsed = timeZoneName.safeParse(zone);
  if (!/^(19|20|21)\d\d-(0[1-9]|1[0-2])$/.test(month))
    throw new InputError([{ where: 'month', what: 'Expected a month such as 2026-11.' }]);
  if (!parsed.success)
    throw new InputError([{ where: 'timeZone', what: 'Expected a time zone such as Pacific/Auckland.' }]);
  return { month, timeZone: parsed.data };
}

/** What closing does, with the figures that it fixes. */
function closingText(asked: MonthToClose, totals: readonly BillingTotal[], isFirst: boolean): Html {
  const sum = (figure: (total: BillingTotal) => number): string =>
    groupThousands(totals.reduce((all, total) => all + figure(total), 0));
  const prices = totals.map(({ kind, currency, price }) =>
    [groupThousands(price), currency, kind === 'test' && '(tests)'].filter(Boolean).join(' '),
  );
  return html`<p>The billing report of ${nameMonth(asked.month)} (${asked.timeZone}) stays the same from now on. Later changes of its requests go to the next month, as corrections. A closed month cannot be opened again.${isFirst && ` All later months are closed in ${asked.timeZone} too.`}</p>
<p>It concerns <strong>${sum(({ recipients }) => recipients)} recipients</strong>: ${sum(({ delivered }) => delivered)} delivered, ${sum(({ undelivered }) => undelivered)} undelivered, ${sum(({ failed }) => failed)} failed, ${sum(({ unknown }) => unknown)} unknown, ${sum(({ notYetReported }) => notYetReported)} not yet reported.</p>
<p>Price: ${prices.join(', ') || '0'}. <a href="${addressOfMonth(asked)}">Look at the report first</a>.</p>`;
}

function addressOfMonth({ month, timeZone }: MonthToClose): string {
  return monthAddress({ period: month, timeZone });
}
