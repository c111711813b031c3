import type { RateLimits } from '../../domain/rate-limits.ts';
import { isForAccount } from '../../engine/access/tokens.ts';
import {
  type AccountLimits,
  changeAccountLimits,
  listAccountLimits,
} from '../../engine/dispatch/account-limits.ts';
import { rateLimit } from '../../platform/scalars.ts';
import { asSentence } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { limitTexts } from '../../report/lists/limits.ts';
import type { FormFields } from '../base/actions.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { accountPath } from '../paths.ts';

/** Sets limits of an account instead of those of its file. Workers follow within half a second. */
export function addLimitsAction({ addAction, campaignSource: { settings } }: Tools): void {
  const find = async ({ context, session }: View, name: string | undefined): Promise<AccountLimits> => {
    const all = await listAccountLimits(context, settings);
    const found = all.find(({ account }) => account === name && isForAccount(session, account));
    return found ?? notFound(noSuchAccount);
  };
  addAction({
    path: '/accounts/:account/limits',
    scope: 'admin',
    ask: async (view, { params }, fields) => {
      const limits = await find(view, params['account']);
      const seen = formatLimits(limits.set);
      // After a change by another person, the fields show it.
      const shown = fields['seen'] === undefined || fields['seen'] === seen ? fields : {};
      return {
        title: `Limits of ${limits.account}`,
        body: html`<p>In the accounts file: ${limitText(limits.file)}. In force now: ${limitText(limits.inForce)}.</p>
<p>All workers together keep to a limit, from the next half second on. It concerns every run of the account, also those that are sent now. An empty field returns to the file.</p>
<input type="hidden" name="seen" value="${seen}">
${field('requestsPerSecond', 'Requests a second', limits, shown)}
${field('recipientsPerSecond', 'Recipients a second', limits, shown)}`,
        button: 'Set the limits',
        within: { href: accountPath(limits.account), text: limits.account },
      };
    },
    act: async (view, { params }, fields) => {
      const { account, set } = await find(view, params['account']);
      const changes = {
        requestsPerSecond: readLimit(fields, 'requestsPerSecond'),
        recipientsPerSecond: readLimit(fields, 'recipientsPerSecond'),
      };
      requireSeen(account, set, fields);
      const change = { reason: fields['reason'], seen: set };
      await changeAccountLimits(view.context, settings, account, { changes, ...change });
      return {
        to: accountPath(account),
        notice: `The limits of ${account} are set. Workers keep to them within a second.`,
      };
    },
  });
}

export const noSuchAccount = 'There is no such account. The page of accounts lists all.';

export function limitText(limits: RateLimits): string {
  return limitTexts(limits).join(', ') || 'none';
}

function formatLimits({ requestsPerSecond, recipientsPerSecond }: RateLimits): string {
  return `${requestsPerSecond ?? 'file'} ${recipientsPerSecond ?? 'file'}`;
}

/** @throws InputError when the form was of other limits, so that a form that is sent twice acts once */
function requireSeen(account: string, set: RateLimits, fields: FormFields): void {
  if (fields['seen'] === formatLimits(set)) return;
  const what = `The limits of ${account} were changed meanwhile, by another person or by this form itself. The fields show them as they are now.`;
  refuse('limits', what);
}

function field(name: keyof RateLimits, label: string, { set }: AccountLimits, fields: FormFields): Html {
  const value = String(fields[name] ?? set[name] ?? '');
  return textField({
    name,
    label,
    value,
    hint: 'Such as 20 or 0.5. Empty: as in the accounts file.',
    problem: problemOf(value),
    attributes: html`inputmode="decimal" autocomplete="off"`,
  });
}

function problemOf(written: string): string | undefined {
  if (written.trim() === '') return undefined;
  const what = rateLimit.safeParse(written.trim()).error?.issues[0]?.message;
  return what && asSentence(`${what}, or nothing`);
}

/** @throws InputError for anything but a limit, or nothing */
function readLimit(fields: FormFields, name: keyof RateLimits): number | null {
  const written = (fields[name] ?? '').trim();
  const what = problemOf(written);
  if (what !== undefined) refuse(name, what);
  return written === '' ? null : rateLimit.parse(written);
}
