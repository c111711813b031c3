import type { Definition } from '../../campaign/definition.ts';
import { createWindowGate, localTime, stateAt, type WindowGate } from '../../campaign/window.ts';
import type { FrozenWindow } from '../../campaign/window-definition.ts';
import type { InterfaceName } from '../../domain/message.ts';
import type { PlannedWindow, PlanWindow } from '../../ledger/planning/windows.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { listDueWindows, openWindow, type SliceWindow } from '../../ledger/slices/windows.ts';
import { supportsTimeZone } from '../../wire/time-zone.ts';
import type { EngineContext } from '../context.ts';
import type { AccountRuntimes } from './account-runtime.ts';
import { dispatchSettings, windowOf } from './dispatch-settings.ts';

/** @returns undefined for a campaign without a window */
export function windowPlanner(
  window: FrozenWindow | Definition['window'],
  interfaceName: InterfaceName,
  now: Date,
): PlanWindow | undefined {
  if (!window) return undefined;
  return (zones) => {
    const { open, until } = stateAt(window, zones, now);
    if (open) return { opensAt: null, closesAt: until, handover: null };
    if (window.hold === 'engine' || until === null) return { opensAt: until, closesAt: null, handover: null };
    return { opensAt: null, closesAt: null, handover: handoverAt(until, zones, interfaceName) };
  };
}

/** Makes a SendTime in a zone that the interface can express. */
function handoverAt(
  at: Date,
  zones: readonly string[],
  interfaceName: InterfaceName,
): PlannedWindow['handover'] {
  const zone = zones.find((each) => supportsTimeZone(interfaceName, each)) ?? 'UTC';
  return { at, fields: { SendTime: localTime(at, zone), TimeZone: zone } };
}

/** @returns undefined for a slice that can be sent at any time */
export function windowGateOf(definition: unknown, window: SliceWindow | null): WindowGate | undefined {
  const rule = window && windowOf(definition);
  return rule ? createWindowGate(rule, window) : undefined;
}

/** Skips accounts that this process lacks. */
export async function openDueWindows(
  { ledger: { pool }, now }: EngineContext,
  queue: SliceQueue,
  accounts: AccountRuntimes,
): Promise<void> {
  for (const due of await listDueWindows(pool, now(), accounts.unknown())) {
    const { run, definition, windowIndex, zones } = due;
    const runtime = await accounts.open(due.account);
    if (!runtime) continue;
    const at = now();
    const rule = windowOf(definition);
    const { open, until } = rule ? stateAt(rule, zones, at) : { open: true, until: null };
    const { plan } = dispatchSettings(run, runtime.account, definition);
    const times = open ? { opensAt: null, closesAt: until } : { opensAt: until, closesAt: null };
    await openWindow(queue, pool, plan, { windowIndex, ...times, now: at });
  }
}
