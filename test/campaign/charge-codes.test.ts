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

describe('contacts with valid ChargeCodes', () => {
  test('pass', () => {
    const { check, throwIfAny } = createChargeCodeCheck(list, 'c.yaml:7:14');
    throwIfAny();
    for (const code of list.codes) check(code, 2, 'contacts.csv');
    expect(throwIfAny).not.toThrow();
  });
});

describe('contacts whose ChargeCode is not valid', () => {
  test('are told by their lines, with the nearest code that is', () => {
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

  test.each(['x9', 'X9 ', ' X9'])('are those with a code in another writing: %j', (code) => {
    expect(problems([[code, 5]])).toEqual([
      `contacts.csv:5: ChargeCode "${code}" is not in valid-codes.csv. Did you mean "X9"?`,
    ]);
  });

  test('are those without one too', () => {
    expect(problems([[undefined, 4]])).toEqual([
      'contacts.csv:4: The contact has no ChargeCode; expected one of valid-codes.csv.',
    ]);
  });

  test('are told together where they have the same code, of several files too', () => {
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

  test('are shown with twenty lines of one code, and all counted', () => {
    const checked = Array.from({ length: 5000 }, (_, index): Checked => ['ALL', index + 2]);
    const lines = Array.from({ length: 19 }, (_, index) => index + 3).join(', ');
    expect(problems(checked)).toEqual([
      `contacts.csv:2: ChargeCode "ALL" is not in valid-codes.csv. The same in lines ${lines} and 4980 more.`,
      'c.yaml:7:14: 5000 contacts have no ChargeCode that is in valid-codes.csv; 20 of them are shown.',
    ]);
  });

  test('are shown with twenty codes, each with a line, before a second line of any', () => {
    const checked = Array.from(
      { length: 100_000 },
      (_, index): Checked => [`${index % 40}-WRONG`, index + 2],
    );
    const told = problems(checked);
    expect(told.length).toBe(21);
    expect(told[0]).toBe(
      'contacts.csv:2: ChargeCode "0-WRONG" is not in valid-codes.csv. The same in 2499 more.',
    );
    expect(told[19]).toContain('contacts.csv:21: ChargeCode "19-WRONG"');
    expect(told[20]).toBe(
      'c.yaml:7:14: 100000 contacts have no ChargeCode that is in valid-codes.csv; 20 of them are shown.',
    );
  });
});

describe("a campaign's ChargeCode", () => {
  const check = (message: string): void => {
    const source = `campaign: test
account: main
channel: sms
contacts: { file: contacts.csv }
message: { Message: Hello${message} }
chargeCodes: valid-codes.csv`;
    checkCampaignChargeCode(readCampaign(source, 'c.yaml'), 'rest-2.02', list);
  };

  test('that is the same for everybody is checked at once', () => {
    check(', ChargeCode: X9');
    expect(problemsThrown(() => check(', ChargeCode: NET-300'))).toEqual([
      'c.yaml:5:40: "message.ChargeCode": ChargeCode "NET-300" is not in valid-codes.csv. Did you mean "NET-3000"?',
    ]);
  });

  test('that is of each contact is not', () => {
    expect(() => check(', ChargeCode: "NET-[[post]]"')).not.toThrow();
  });

  test('must be there, where codes are asked for', () => {
    expect(problemsThrown(() => check(''))).toEqual([
      'c.yaml:6:14: "chargeCodes" lists valid ChargeCodes, but the message has none; set "message.ChargeCode", such as "[[Column]]", or remove "chargeCodes".',
    ]);
  });
});
