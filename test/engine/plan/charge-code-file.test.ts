import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../../src/campaign/campaign.ts';
import type { ChargeCodeList } from '../../../src/campaign/charge-codes.ts';
import { openChargeCodes } from '../../../src/engine/plan/charge-code-file.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const workspace = testWorkspace({});

/** The campaign lies in the folder `night`. */
async function open(
  file: string,
  chargeCodes = 'codes.csv',
  chargeCode = '"[[code]]"',
): Promise<ChargeCodeList | undefined> {
  await workspace.write('night/codes.csv', file);
  const source = `campaign: test
account: main
channel: sms
contacts: { file: contacts.csv }
message: { Message: Hello, ChargeCode: ${chargeCode} }
chargeCodes: ${chargeCodes}`;
  const campaign = readCampaign(source, 'night/c.yaml');
  return openChargeCodes(campaign, 'rest-2.02', 'night/c.yaml', {
    workingFolder: workspace.folder,
    environment: {},
  });
}

const problems = (...parts: Parameters<typeof open>) => problemsRejected(() => open(...parts));

async function codesOf(...parts: Parameters<typeof open>): Promise<string[]> {
  return [...((await open(...parts))?.codes ?? [])];
}

describe('openChargeCodes', () => {
  test('every line of a list without a header is a code', async () => {
    expect(await codesOf('NET-1\nNET-2\n\nNET-1\n NET-3 \n')).toEqual(['NET-1', 'NET-2', 'NET-3']);
  });

  test.each(['ChargeCode', 'charge_code', 'Charge Codes', 'CODE', 'codes'])(
    'a list is read under the header "%s"',
    async (header) => {
      expect(await codesOf(`${header}\nNET-1\n`)).toEqual(['NET-1']);
    },
  );

  test('the column named like ChargeCode is read among others', async () => {
    expect(await codesOf('Code,Charge-Code,Owner\nA,NET-1,Ann\nB,,Bob\n')).toEqual(['NET-1']);
  });

  test('the configured column is read, and its first line is the header', async () => {
    expect(await codesOf('ChargeCode,Project\nA,P1\n', '{ file: codes.csv, column: Project }')).toEqual([
      'P1',
    ]);
    expect(await codesOf('Project\nP1\n', '{ file: codes.csv, column: Project }')).toEqual(['P1']);
  });

  test('errors name the file relative to the working folder', async () => {
    expect((await open('A\n'))?.name).toBe('night/codes.csv');
  });

  test('a campaign without a list reads nothing', async () => {
    const source =
      'campaign: a\naccount: a\nchannel: sms\ncontacts: { file: a.csv }\nmessage: { Message: a }\n';
    const campaign = readCampaign(source, 'c.yaml');
    expect(
      await openChargeCodes(campaign, 'rest-2.02', 'c.yaml', {
        workingFolder: workspace.folder,
        environment: {},
      }),
    ).toBeUndefined();
  });
});

describe('openChargeCodes before any contact is read', () => {
  test('a missing file is an input error', async () => {
    const there = [
      ['none.csv', '6:14'],
      ['{ file: none.csv }', '6:22'],
    ] as const;
    for (const [written, location] of there) {
      expect(await problems('A\n', written)).toEqual([
        `night/c.yaml:${location}: The file of ChargeCodes night/none.csv cannot be read (it does not exist).`,
      ]);
    }
  });

  test('a missing or ambiguous column is an input error', async () => {
    const file = 'Project,Owner\nP1,Ann\n';
    expect(await problems(file, '{ file: codes.csv, column: Projekt }')).toEqual([
      'night/c.yaml:6:41: night/codes.csv has no column "Projekt". Did you mean "Project"? Its columns: Project, Owner.',
    ]);
    expect(await problems(file)).toEqual([
      'night/c.yaml:6:14: None of the columns of night/codes.csv could be the ChargeCode; name it: chargeCodes: { file: …, column: … }. Its columns: Project, Owner.',
    ]);
    expect(await problems('charge_code,ChargeCode\nP1,P1\n')).toEqual([
      'night/c.yaml:6:14: Several of the columns of night/codes.csv could be the ChargeCode; name it: chargeCodes: { file: …, column: … }. Its columns: charge_code, ChargeCode.',
    ]);
  });

  test('a file without codes is an input error', async () => {
    expect(await problems('')).toEqual(['night/codes.csv: The file is empty; expected a header line.']);
    expect(await problems('ChargeCode\n\n')).toEqual([
      'night/codes.csv: The file has no ChargeCodes; expected one a line.',
    ]);
  });

  test('a broken row is an input error, instead of making its codes unknown', async () => {
    expect(await problems('ChargeCode,Owner\nP1,Ann\nP2\n')).toEqual([
      'night/codes.csv:3: The row cannot be read: 1 value, but the header has 2 columns.',
    ]);
    expect(await problems('P1\nP2,P3\n')).toEqual([
      'night/codes.csv:2: The row cannot be read: 2 values, but the header has 1 columns.',
    ]);
  });

  test('a campaign ChargeCode that is not in the list is an input error', async () => {
    expect(await problems('NET-1\nNET-2\n', 'codes.csv', 'NET-3')).toEqual([
      'night/c.yaml:5:40: "message.ChargeCode": ChargeCode "NET-3" is not in night/codes.csv. Did you mean "NET-1"?',
    ]);
  });
});
