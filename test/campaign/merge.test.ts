import { describe, expect, test } from 'vitest';
import { planMerge } from '../../src/campaign/merge.ts';
import type { Segment, Template } from '../../src/campaign/placeholders.ts';
import type { DestinationField } from '../../src/domain/message.ts';

const mergeable: readonly DestinationField[] = [
  'Attention',
  'First Name',
  'Last Name',
  'Company',
  'Custom1',
  'Custom2',
];

const text = (words: string): Segment => ({ kind: 'text', text: words });
const column = (name: string, fallback = ''): Segment => ({ kind: 'column', column: name, fallback });
const service = (written: string): Segment => ({ kind: 'service', text: written });
const template = (...segments: Segment[]): Template => segments;

describe('planMerge', () => {
  test('a constant text needs no merging', () => {
    expect(planMerge(template(text('Hi '), service('[[STOP]]')), mergeable, {})).toEqual({ kind: 'none' });
    expect(planMerge(undefined, mergeable, {})).toEqual({ kind: 'none' });
  });

  test('a destination field that the campaign maps is used for its column', () => {
    const plan = planMerge(template(text('Hi '), column('first')), mergeable, { 'First Name': 'first' });
    expect(plan).toEqual({
      kind: 'service',
      slots: [{ field: 'First Name', column: 'first', fallback: '' }],
      template: [text('Hi '), service('[[First Name]]')],
    });
  });

  test('an unmapped column gets the first free Custom field', () => {
    const plan = planMerge(template(column('city'), column('balance')), mergeable, {});
    expect(plan).toMatchObject({
      slots: [
        { field: 'Custom1', column: 'city' },
        { field: 'Custom2', column: 'balance' },
      ],
      template: [service('[[Custom1]]'), service('[[Custom2]]')],
    });
  });

  test('a field with another column, or with a meaning of its own, is never used', () => {
    const plan = planMerge(template(column('city')), mergeable, { Custom1: 'id' });
    expect(plan).toMatchObject({ slots: [{ field: 'Custom2', column: 'city' }] });
    expect(planMerge(template(column('city')), mergeable, { Custom1: 'id', Custom2: 'tag' })).toEqual({
      kind: 'engine',
      why: 'no destination field is left for [[city]]',
    });
  });

  test('a column travels in its own field, and leaves the free one to another column', () => {
    const plan = planMerge(template(column('id'), column('city')), mergeable, { Custom2: 'id' });
    expect(plan).toMatchObject({
      kind: 'service',
      slots: [
        { field: 'Custom2', column: 'id' },
        { field: 'Custom1', column: 'city' },
      ],
    });
  });

  test('a column travels once, however many times it is used', () => {
    const plan = planMerge(template(column('city'), text(', '), column('city')), mergeable, {});
    expect(plan).toMatchObject({
      slots: [{ field: 'Custom1', column: 'city' }],
      template: [service('[[Custom1]]'), text(', '), service('[[Custom1]]')],
    });
  });

  test('a column with two fallbacks travels in two fields', () => {
    const twice = template(column('name', 'there'), column('name', 'customer'));
    expect(planMerge(twice, mergeable, { 'First Name': 'name' })).toMatchObject({
      slots: [
        { field: 'First Name', column: 'name', fallback: 'there' },
        { field: 'Custom1', column: 'name', fallback: 'customer' },
      ],
      template: [service('[[First Name]]'), service('[[Custom1]]')],
    });
  });

  test('every field of a destination can be used', () => {
    const mapped = { Attention: 'a', 'First Name': 'b', 'Last Name': 'c', Company: 'd' };
    const six = template(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => column(name)));
    expect(planMerge(six, mergeable, mapped)).toMatchObject({
      kind: 'service',
      slots: mergeable.map((field) => ({ field })),
    });
  });
});
