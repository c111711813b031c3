import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import type { Definition } from '../../src/campaign/definition.ts';
import { invalid } from '../../src/campaign/invalid.ts';
import { sendingWindow } from '../../src/campaign/window-definition.ts';
import { createZoneReader, type ReadZones } from '../../src/campaign/window-zones.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const hours = { from: '09:00', to: '20:00' };

describe('days of a window', () => {
  test.each([
    ['Mon-Fri', [1, 2, 3, 4, 5]],
    ['Sat-Sun', [6, 7]],
    ['Fri-Mon', [1, 5, 6, 7]],
    ['wed', [3]],
    ['Mon, Wed', [1, 3]],
    [
      ['Mon', 'Wed'],
      [1, 3],
    ],
    [
      ['Sun', 'Mon-Wed', 'Tue'],
      [1, 2, 3, 7],
    ],
    [undefined, [1, 2, 3, 4, 5, 6, 7]],
  ])('the days %j are %j', (days, expected) => {
    expect(sendingWindow.parse({ ...hours, ...(days === undefined ? {} : { days }) })).toMatchObject({
      days: expected,
    });
  });
});

test.each([
  [{ ...hours, days: 'Mon-Fri-Sun' }, /expected days such as Mon-Fri/],
  [{ ...hours, days: 'Montag' }, /expected days such as Mon-Fri/],
  [{ ...hours, days: [] }, /expected days such as Mon-Fri/],
  [{ from: '9', to: '20:00' }, /expected a time of day/],
  [{ from: '24:00', to: '20:00' }, /expected a time of day/],
  [{ from: '09:00', to: '24:01' }, /expected a time of day/],
  [{ from: '09:00', to: '9:00' }, /expected another time than `from`/],
  [
    { ...hours, timeZone: 'Middle Earth' },
    /expected a time zone such as Pacific\/Auckland or New Zealand Standard Time/,
  ],
  [{ ...hours, timeZone: { columns: 'Zone' } }, /expected a time zone|Unrecognized/],
  [{ ...hours, hold: 'post office' }, /engine/],
])('the window %j is refused with a plain error', (written, why) => {
  expect(JSON.stringify(sendingWindow.safeParse(written).error?.issues)).toMatch(why);
});

test('times become minutes of the day, and both kinds of zone names one', () => {
  expect(sendingWindow.parse({ from: '20:00', to: '24:00', timeZone: 'New Zealand' })).toEqual({
    days: [1, 2, 3, 4, 5, 6, 7],
    from: 1_200,
    to: 1_440,
    hold: 'engine',
    timeZone: { kind: 'zone', zone: 'Pacific/Auckland' },
  });
});

describe('the window and the deadline of a campaign', () => {
  const source = (channel: string, more: string, message = 'Message: Hi'): string => `campaign: c
account: main
channel: ${channel}
contacts: { file: a.csv }
message: { ${message} }
${more}`;
  const problems = (text: string, interfaceName: 'rest-2.02' | 'soap-tts' = 'rest-2.02'): string[] =>
    problemsThrown(() =>
      checkCampaign(readCampaign(text, 'c.yaml'), {
        interface: interfaceName,
        format: 'json',
        loopback: false,
      }),
    );
  const window = (more: string): string => `window: { from: "09:00", to: "20:00"${more} }\n`;

  test('a window or a deadline needs a time zone', () => {
    expect(problems(source('sms', window('')))).toEqual([
      'c.yaml:6:9: "window": expected a timeZone here, or one of the campaign.',
    ]);
    expect(problems(source('sms', 'deadline: 2026-12-01T17:00'))).toEqual([
      'c.yaml:6:11: "deadline": expected a timeZone of the campaign, because a deadline is a local time.',
    ]);
  });

  test('an unknown zone is refused with the forms that a zone can have', () => {
    expect(problems(source('sms', window(', timeZone: "+12:00"')))).toEqual([
      'c.yaml:6:49: "window.timeZone": expected a time zone such as Pacific/Auckland or New Zealand Standard Time, recipient, or { column: … }, got "+12:00".',
    ]);
  });

  test.each([
    ['Mon-Fry', 'Fri'],
    ['Monday-Friday', 'Mon'],
    ['[Mon, Tus]', 'Tue'],
  ])('an unknown day %s is refused with the nearest day', (days, meant) => {
    const found = problems(source('sms', window(`, days: ${days}`)));
    expect(found).toEqual([expect.stringMatching(new RegExp(`expected days.* Did you mean "${meant}"\\?$`))]);
  });

  test('an invalid deadline is reported once', () => {
    expect(problems(source('sms', 'deadline: tomorrow'))).toEqual([
      expect.stringMatching(/expected a local time such as .*, got "tomorrow"\.$/),
    ]);
  });

  test('a schedule of several days cannot have a deadline on one day', () => {
    const nightly = 'schedule: { cron: "0 2 * * *", timeZone: UTC }';
    expect(problems(source('sms', `deadline: 2026-12-01T17:00\n${nightly}`))).toEqual([
      'c.yaml:6:11: "deadline": later runs of the schedule would all miss it; expected a time of day such as "06:00".',
    ]);
    expect(problems(source('sms', `deadline: "24:30"\n${nightly}`))).toEqual([
      'c.yaml:6:11: "deadline": there is no such day or time.',
    ]);
  });

  test('onDeadline needs a deadline', () => {
    expect(problems(source('sms', 'onDeadline: refuse'))).toEqual([
      'c.yaml:6:13: "onDeadline": expected a deadline too.',
    ]);
  });

  test('a window cannot use the zone of e-mail addresses', () => {
    expect(
      problems(source('email', window(', timeZone: recipient'), 'EmailSubject: Hi, MessagePlain: Hi')),
    ).toEqual([
      'c.yaml:6:49: "window.timeZone": an e-mail address has no time zone; expected a time zone, or { column: … }.',
    ]);
  });

  test('a campaign whose window the service holds cannot set its own SendTime', () => {
    const own = source(
      'sms',
      window(', timeZone: UTC, hold: service'),
      'Message: Hi, SendTime: "2026-12-01T09:00"',
    );
    expect(problems(own)).toEqual([
      'c.yaml:6:60: "window.hold": the campaign sets "message.SendTime" itself; expected engine, or none of its own.',
    ]);
  });

  test('the service can hold a window only where the message has a SendTime with a TimeZone', () => {
    const call = source('tts', window(', timeZone: UTC, hold: service'), 'MessageToPeople: Hi');
    expect(problems(call, 'soap-tts')).toEqual([
      'c.yaml:6:60: "window.hold": tts in soap-tts has no SendTime with a TimeZone; expected engine.',
    ]);
  });

  test('a SendTime that the clocks skip is refused', () => {
    const message = 'Message: Hi, SendTime: "2026-09-27T02:30", TimeZone: New Zealand';
    expect(problems(source('sms', '', message))).toEqual([
      'c.yaml:5:35: "message.SendTime": there is no 2026-09-27T02:30 in New Zealand: the clocks go forward and skip it.',
    ]);
  });
});

describe('the zones of a contact', () => {
  const read = (window: object, timeZone?: string): ReadZones => {
    const found: Pick<Definition, 'window' | 'timeZone'> = {
      window: sendingWindow.parse({ ...hours, ...window }),
      ...(timeZone === undefined ? {} : { timeZone }),
    };
    return createZoneReader(found, 'phone') ?? expect.fail('it has a window');
  };
  const zonesOf = (zones: string) => ({ kind: 'zones', zones });
  const zoneIn = (value: string) => (column: string) => (column === 'Zone' ? value : '');

  test('zones come from a column, by either kind of name, and from the campaign where it is empty', () => {
    const readZones = read({ timeZone: { column: 'Zone' } }, 'Europe/Berlin');
    expect(readZones(zoneIn(' Australia/Perth '), '+1')).toEqual(zonesOf('Australia/Perth'));
    expect(readZones(zoneIn('New Zealand Standard Time'), '+1')).toEqual(zonesOf('Pacific/Auckland'));
    expect(readZones(zoneIn(''), '+1')).toEqual(zonesOf('Europe/Berlin'));
  });

  test('a row without a zone, or with an unknown one, is invalid', () => {
    const readZones = read({ timeZone: { column: 'Zone' } });
    expect(readZones(zoneIn(''), '+1')).toEqual(
      invalid('Zone', 'no time zone, and the campaign sets no "timeZone" for such recipients'),
    );
    expect(readZones(zoneIn('Mordor'), '+1')).toEqual(
      invalid('Zone', 'expected a time zone such as Pacific/Auckland, got "Mordor"'),
    );
  });

  test('zones can be all those of the country of the number', () => {
    const readZones = read({ timeZone: 'recipient' }, 'UTC');
    expect(readZones(zoneIn(''), '+436641234567')).toEqual(zonesOf('Europe/Vienna'));
    expect(readZones(zoneIn(''), '+64211234567')).toEqual(zonesOf('Pacific/Auckland,Pacific/Chatham'));
    // Of two countries with one calling code.
    expect(readZones(zoneIn(''), '+12425551234')).toEqual(zonesOf('America/Nassau'));
    expect(readZones(zoneIn(''), '+12125551234')).toMatchObject({
      zones: expect.stringContaining('Pacific/Honolulu'),
    });
    expect(readZones(zoneIn(''), '+61412345678')).not.toMatchObject({
      zones: expect.stringContaining('Asia/'),
    });
    // A number without a country.
    expect(readZones(zoneIn(''), '+80012345678')).toEqual(zonesOf('UTC'));
  });

  test('several zones must share an hour in which the window is open', () => {
    expect(read({ from: '09:00', to: '13:00', timeZone: 'recipient' })(zoneIn(''), '+12125551234')).toEqual(
      invalid('phone', 'the window is never open in all time zones of its country at once'),
    );
  });

  test('all contacts share the zone that the window or the campaign names', () => {
    expect(read({ timeZone: 'Asia/Tokyo' }, 'Europe/Berlin')(zoneIn(''), '+1')).toEqual(
      zonesOf('Asia/Tokyo'),
    );
    expect(read({}, 'Europe/Berlin')(zoneIn(''), '+1')).toEqual(zonesOf('Europe/Berlin'));
  });
});
