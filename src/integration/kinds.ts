import type { IntegrationKind } from '../generated/prisma/enums.ts'
import { readAlertmanager } from './kind/alertmanager.ts'
import { readCloudWatch } from './kind/cloudwatch.ts'
import { readDatadog } from './kind/datadog.ts'
import type { GenericPaths } from './kind/generic.ts'
import { readGeneric } from './kind/generic.ts'
import { readGrafana } from './kind/grafana.ts'
import type { Reading } from './kind/incoming.ts'
import { unreadable } from './kind/incoming.ts'
import { readPagerDuty } from './kind/pagerduty.ts'
import { readPagerDutyEvent } from './kind/pagerduty-events.ts'
import { readSentry } from './kind/sentry.ts'
import { readUptimeKuma } from './kind/uptime-kuma.ts'

type Read = (body: unknown, paths: GenericPaths) => Reading

/** The reader of each kind. For SNS, it reads the message of a notification. */
const readers: Readonly<Record<IntegrationKind, Read>> = {
  ALERTMANAGER: readAlertmanager,
  GRAFANA: readGrafana,
  PAGERDUTY: readPagerDuty,
  PAGERDUTY_EVENTS: readPagerDutyEvent,
  DATADOG: readDatadog,
  SENTRY: readSentry,
  SNS: readCloudWatch,
  UPTIME_KUMA: readUptimeKuma,
  GENERIC: readGeneric,
}

/** Reads a body in the format of its kind. Refuses every unreadable body, so that later bodies do not have to wait. */
export function readIncoming(kind: IntegrationKind, text: string, paths: GenericPaths): Reading {
  const body = parsed(text)
  if (body === undefined) return unreadable('This is not valid JSON.')
  try {
    return readers[kind](body, paths)
  } catch {
    // Converting to text throws for an object with its own `toString`, and for deep nesting.
    return unreadable('This has values that cannot be read.')
  }
}

/** Parses a text as JSON; undefined if it is invalid. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
