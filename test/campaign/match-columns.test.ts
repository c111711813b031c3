import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { matchColumns, neededColumns } from '../../src/campaign/match-columns.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { current } from './parts.ts';

type Written = { readonly contacts?: object; readonly message: object; readonly more?: string };

function needed({ contacts = {}, message, more = '' }: Written, channel = 'sms') {
  const source = [
    'campaign: test',
    'account: main',
    `channel: ${channel}`,
    `contacts: ${JSON.stringify({ file: 'c.csv', ...contacts })}`,
    `message: ${JSON.stringify(message)}`,
    more,
  ].join('\n');
  const campaign = readCampaign(source, 'c.yaml');
  checkCampaign(campaign, current);
  return neededColumns(campaign, current);
}

const sms = { Message: 'Dear [[first|friend]], your [[Plan name]] ends. [[STOP]]' };

describe('the columns that a campaign needs', () => {
  test('are the address, placeholders without their fallbacks, and those of rows, whatever its own file has', () => {
    const found = needed({
      contacts: {
        country: 'AU',
        countryColumn: 'Land',
        columns: { Recipient: 'Handy', Attention: '[[first]] [[Nach name]]' },
        key: ['Id'],
        where: { Status: 'active' },
      },
      message: { ...sms, SubAccount: '[[Branch]]', ChargeCode: '[[Cost centre]]' },
    });
    expect(found.recipient).toBe('Handy');
    expect(new Set(found.names)).toEqual(
      new Set(['Handy', 'Land', 'Status', 'Id', 'first', 'Nach name', 'Plan name', 'Branch', 'Cost centre']),
    );
  });

  test('include the address under the name of its field when the campaign names no column', () => {
    expect(needed({ message: sms })).toEqual({
      names: ['Recipient', 'first', 'Plan name'],
      recipient: 'Recipient',
      channel: 'sms',
    });
  });

  test('a faulty placeholder is an error', () => {
    expect(problemsThrown(() => needed({ message: { Message: 'Dear [[first' } }))).toEqual([
      expect.stringContaining('no placeholder'),
    ]);
  });
});

describe('the columns of a list are matched', () => {
  const match = (names: readonly string[], header: readonly string[], recipient = 'Recipient') =>
    matchColumns({ names, recipient, channel: 'sms' }, header);

  test('by their own names, else without case, spaces, "_" and "-"', () => {
    expect(
      match(
        ['Plan name', 'First', 'ChargeCode'],
        ['plan_name', 'PLAN NAME', 'Plan name', 'first', 'Charge code'],
      ),
    ).toEqual({ 'Plan name': 'Plan name', First: 'first', ChargeCode: 'Charge code' });
  });

  test('by usual names of the same field', () => {
    expect(
      match(
        ['Handy', 'First Name', 'Last Name', 'Company'],
        ['Mobile', 'Phone', 'given name', 'Surname', 'Organisation'],
        'Handy',
      ),
    ).toEqual({
      Handy: 'Mobile',
      'First Name': 'given name',
      'Last Name': 'Surname',
      Company: 'Organisation',
    });
    expect(matchColumns({ names: ['To'], recipient: 'To', channel: 'email' }, ['Name', 'E-Mail'])).toEqual({
      To: 'E-Mail',
    });
  });

  test('not when several are as likely, or none is', () => {
    expect(match(['Recipient', 'Balance'], ['Mobile', 'Cell phone', 'Amount'])).toEqual({});
    expect(match(['Plan name'], ['plan_name', 'PLAN NAME'])).toEqual({});
  });

  test('one column can be the address and a placeholder, and a column that is named itself is nothing else', () => {
    expect(match(['Recipient', 'Phone'], ['Phone'])).toEqual({ Recipient: 'Phone', Phone: 'Phone' });
    expect(match(['Contact', 'Name'], ['Name'])).toEqual({ Name: 'Name' });
  });

  test('names that every object has are names like others', () => {
    const names = ['__proto__', 'constructor'];
    expect(Object.keys(match(names, names))).toEqual(names);
  });
});
