import { InvalidArgumentError } from 'commander';
import { InputError } from '../../domain/problems.ts';
import type { WantedRow } from '../../engine/plan/row-choice.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { parseWholeNumber } from '../option-readers.ts';
import { campaignArgument, campaignOptions, jsonFlag } from '../options.ts';

export const command = defineCommand({
  description:
    'Shows what a run would send and cost: contacts, requests, SMS parts, the first messages. Sends and writes nothing.',
  arguments: [argument('<campaign>', campaignArgument)],
  options: [
    ...campaignOptions,
    flag(
      '--check',
      'only check the campaign, its account and files, and ask the service about the credential; reads no contacts, needs no ledger',
      { conflicts: ['of', 'limit', 'testTo', 'out', 'preview', 'rows', 'simulate', 'given', 'seed'] },
    ),
    flag('--strict', 'with --check: end with 2 for warnings too'),
    jsonFlag,
    option('--out <file>', 'also write a plan file for `volley run --plan`'),
    option('--preview <file>', 'also write a page (HTML) of the messages as their readers see them'),
    flag(
      '--simulate',
      'play the run in simulated time: when its canary and guard would decide, and when it would end',
      { conflicts: ['testTo', 'out', 'preview', 'rows'] },
    ),
    option(
      '--given <file>',
      'with --simulate: what the service would answer and report (YAML); else as in former runs',
    ),
    option('--seed <number>', 'with --simulate: the number that chance begins with (default: 1)', {
      read: parseWholeNumber,
    }),
    option(
      '--rows <numbers>',
      'rows on that page: contacts, such as 1,7 or 10-12, or lines, such as contacts.csv:8 (default: rows that differ)',
      { read: readWantedRows },
    ),
  ],
  examples: [
    ['volley plan campaigns/first.yaml', 'look before you send'],
    ['volley plan campaigns/first.yaml --check', 'find mistakes, without a ledger'],
    ['volley plan campaigns/first.yaml --preview first.html', 'see the messages'],
    ['volley plan campaigns/first.yaml --simulate', 'rehearse the run'],
    ['volley plan campaigns/first.yaml --out first.plan', 'save the plan, to send exactly it'],
    ['zcat export.csv.gz | volley plan campaigns/first.yaml --contacts -', 'read contacts from a pipe'],
  ],
  run: async (shell, [campaign], { check, strict, ...options }) => {
    if (check) {
      const { checkCampaign } = await import('../plans/check-campaign.ts');
      const { json, contacts } = options;
      await checkCampaign(shell, campaign, { json, strict, contacts });
      return;
    }
    if (strict) throw new InputError([{ where: '--strict', what: 'It needs --check.' }]);
    const { simulate, given, seed, ...planned } = options;
    if (simulate) {
      const { rehearseCampaign } = await import('../plans/rehearse-campaign.ts');
      await rehearseCampaign(shell, campaign, { given, seed, ...planned });
      return;
    }
    const without = given === undefined ? (seed === undefined ? undefined : '--seed') : '--given';
    if (without !== undefined) throw new InputError([{ where: without, what: 'It needs --simulate.' }]);
    const { planCampaign } = await import('../plans/plan-campaign.ts');
    await planCampaign(shell, campaign, planned);
  },
});

/** A browser opens a page of 200 e-mails in two seconds, and one of 500 in half a minute. */
const maxRows = 200;

/** `1,7,500`, `10-12`, `contacts.csv:8`. */
function readWantedRows(text: string): readonly WantedRow[] {
  const wanted = text.split(',').flatMap((item) => readItem(item.trim()));
  if (wanted.length > maxRows) throw new InvalidArgumentError(`expected at most ${maxRows} rows.`);
  return wanted;
}

function readItem(item: string): WantedRow[] {
  const numbers = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(item);
  const [from, to] = [Number(numbers?.[1]), Number(numbers?.[2] ?? numbers?.[1])];
  if (numbers && from >= 1 && to >= from) {
    const count = Math.min(to - from + 1, maxRows + 1);
    return Array.from({ length: count }, (_, index) => ({ kind: 'number', row: from + index }));
  }
  const [, file, line] = /^(.+):([1-9]\d{0,8})$/.exec(item) ?? [];
  if (file !== undefined) return [{ kind: 'line', file, line: Number(line) }];
  throw new InvalidArgumentError(
    'expected numbers of contacts from 1, such as 1,7,500 or 10-12, or lines of a file, such as contacts.csv:8.',
  );
}
