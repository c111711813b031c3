import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { checkCampaignChargeCode, createChargeCodeCheck } from '../../src/campaign/charge-codes.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const list = { name: 'valid-codes.csv', codes: new Set(['NET-2600', 'NET-3000', 'X9']) };

/** A contact of `contacts.csv`, or of another file. */
type Checked = readonly [code: string | undefined, line: number, file?: string];

function problems(contacts: readonly Checked[]): string[] {
  const { check, throwIfAny } = createChargeCodeCheck(list, 'c.yaml:7:14');
  for (const [code, line, file = 'contacts.csv'] of contacts) check(code, line, file);
  return problemsThrown(throwIfAny);
}

describe('createChargeCodeCheck with valid ChargeCodes', () => {
  test('contacts with valid ChargeCodes pass', () => {
    const { check, throwIfAny } = createChargeCodeCheck(list, 'c.yaml:7:14');
    throwIfAny();
    for (const code of list.codes) check(code, 2, 'contacts.csv');
    expect(throwIfAny).not.toThrow();
  });
});

describe('createChargeCodeCheck with invalid ChargeCodes', () => {
  test('contacts with an invalid ChargeCode are reported by line, with the nearest valid code', () => {
    const checked: readonly Checked[] = [
      ['NET-2600', 2],
      ['NET-260', 3],
      ['SOMETHING', 17],
    ];
    expect(problems(checked)).toEqual([
      'contacts.csv:3: ChargeCode "NET-260" is not in valid-codes.csv. Did you mean "NET-2600"?',
      'contacts.csv:17: ChargeCode "SOMETHING" is not in valid-codes.csv.',
    ]);
  });

  test.each(['x9', 'X9 ', ' X9'])('a code in another spelling is invalid: %j', (code) => {
    expect(problems([[code, 5]])).toEqual([
      `contacts.csv:5: ChargeCode "${code}" is not in valid-codes.csv. Did you mean "X9"?`,
    ]);
  });

  test('a contact without a code is invalid', () => {
    expect(problems([[undefined, 4]])).toEqual([
      'contacts.csv:4: The contact has no ChargeCode; expected one of valid-codes.csv.',
    ]);
  });

  test('contacts with the same code are reported together, across files', () => {
    const checked: readonly Checked[] = [
      ['SAME', 5, 'a.csv'],
      [undefined, 6, 'a.csv'],
      ['SAME', 9, 'a.csv'],
      [undefined, 3, 'b.csv'],
      ['SAME', 4, 'b.csv'],
    ];
    expect(problems(checked)).toEqual([
      'a.csv:5: ChargeCode "SAME" is not in valid-codes.csv. The same in lines 9, b.csv:4.',
      'a.csv:6: The contact has no ChargeCode; expected one of valid-codes.csv. The same in line b.csv:3.',
    ]);
  });

  test('of contacts with one code, twenty lines are listed and all are counted', () => {
    const checked = Array.from({ length: 5000 }, (_, index): Checked => ['ALL', index + 2]);
    const lines = Array.from({ length: 19 }, (_, index) => index + 3).join(', ');
    expect(problems(checked)).toEqual([
      `contacts.csv:2: ChargeCode "ALL" is not in valid-codes.csv. The same in lines ${lines} and 4980 more.`,
      'c.yaml:7:14: 5000 contacts in all have no ChargeCode that is in valid-codes.csv; the lines of 20 are named above.',
    ]);
  });

  test('twenty codes are listed with one line each before a second line of any', () => {
    const checked = Array.from(
      { length: 100_000 },
      (_, index): Checked => [`${index % 40}-WRONG`, index + 2],
    );
    const reported = problems(checked);
    expect(reported.length).toBe(21);
    expect(reported[0]).toBe(
      'contacts.csv:2: ChargeCode "0-WRONG" is not in valid-codes.csv. The same in 2499 more.',
    );
    expect(reported[19]).toContain('contacts.csv:21: ChargeCode "19-WRONG"');
    expect(reported[20]).toBe(
      'c.yaml:7:14: 100000 contacts in all have no ChargeCode that is in valid-codes.csv; the lines of 20 are named above.',
    );
  });
});

describe('checkCampaignChargeCode', () => {
  const check = (message: string): void => {
    const source = `campaign: test
account: main
channel: sms
contacts: { file: contacts.csv }
message: { Message: Hello${message} }
chargeCodes: valid-codes.csv`;
    checkCampaignChargeCode(readCampaign(source, 'c.yaml'), 'rest-2.02', list);
  };

  test('a constant ChargeCode is checked before any contact is read', () => {
    check(', ChargeCode: X9');
    expect(problemsThrown(() => check(', ChargeCode: NET-300'))).toEqual([
      'c.yaml:5:40: "message.ChargeCode": ChargeCode "NET-300" is not in valid-codes.csv. Did you mean "NET-3000"?',
    ]);
  });

  test('a ChargeCode with placeholders is not checked before contacts are read', () => {
    expect(() => check(', ChargeCode: "NET-[[post]]"')).not.toThrow();
  });

  test('a campaign with a list of ChargeCodes must set one', () => {
    expect(problemsThrown(() => check(''))).toEqual([
      'c.yaml:6:14: "chargeCodes" lists valid ChargeCodes, but the message has none; set "message.ChargeCode", such as "[[Column]]", or remove "chargeCodes".',
    ]);
  });
});
