import { describe, expect, test } from 'vitest';
import { encodeStatusAnswer, type MessageStatus } from '../../src/wire/message-status.ts';
import { parseMembers } from '../../src/wire/xml.ts';

const status: MessageStatus = {
  messageId: 'M1',
  state: 'Completed',
  jobNumber: '12AB34CD',
  account: 'SANDBOX',
  subAccount: 'a & "b"',
  createdTime: { utc: '2026-11-21 10:00:00', local: '2026-11-21 23:00:00' },
  timeZone: 'New Zealand',
  count: 3,
  complete: 2,
  success: 1,
  failed: 1,
  price: '0.240',
  recordsPerPage: 2,
  page: 1,
  recipients: [
    {
      type: 'SMS',
      sequence: 1,
      destination: '+64211234567',
      status: 'Success',
      result: 'delivered',
      sentTime: { utc: '2026-11-21 10:00:05', local: '2026-11-21 23:00:05' },
      fields: { Company: 'Acme', Custom2: '7' },
      price: '0.080',
    },
  ],
};

describe('encodeStatusAnswer', () => {
  const members = {
    Result: 'Success',
    MessageID: 'M1',
    Status: 'Completed',
    JobNum: '12AB34CD',
    Account: 'SANDBOX',
    SubAccount: 'a & "b"',
    CreatedTimeLocal: '2026-11-21 23:00:00',
    CreatedTimeUTC: '2026-11-21 10:00:00',
    Timezone: 'New Zealand',
    Price: '0.240',
  };
  const counts = {
    Count: 3,
    Complete: 2,
    Success: 1,
    Failed: 1,
    TotalRecords: 3,
    RecordsPerPage: 2,
    PageCount: 2,
    Page: 1,
  };
  const recipient = {
    Type: 'SMS',
    DestSeq: '00000001',
    Destination: '+64211234567',
    Status: 'Success',
    Result: 'delivered',
    SentTimeLocal: '2026-11-21 23:00:05',
    SentTimeUTC: '2026-11-21 10:00:05',
    Company: 'Acme',
    Custom2: '7',
    Price: '0.080',
  };

  test('a status in JSON has the observed members', () => {
    const { body } = encodeStatusAnswer({ kind: 'found', status }, 'json');
    expect(JSON.parse(body)).toMatchObject({
      ...members,
      ...counts,
      Department: null,
      Recipients: [recipient],
    });
  });

  test('a status in XML has the observed members', () => {
    const { body } = encodeStatusAnswer({ kind: 'found', status }, 'xml');
    const texts = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
    const Recipients = { Recipient: recipient };
    expect(parseMembers(Buffer.from(body))).toMatchObject({
      ...members,
      ...texts,
      Department: '',
      Recipients,
    });
  });

  test('an unknown message is RecordNotFound with 404, and a refused token is 401', () => {
    expect(encodeStatusAnswer({ kind: 'unknown', messageId: 'M1' }, 'json')).toMatchObject({
      status: 404,
      body: expect.stringMatching(
        /^{"Result":"RecordNotFound","MessageID":"M1","ErrorMessage":\["[^"]+"\]}$/,
      ),
    });
    expect(encodeStatusAnswer({ kind: 'unauthorized', words: ['Who?'] }, 'json')).toMatchObject({
      status: 401,
      body: '{"Result":"Unauthorized","ErrorMessage":["Who?"]}',
    });
  });
});
