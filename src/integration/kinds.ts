import type { IntegrationKind } from '../generated/prisma/enums.ts'
import type { Reading } from './incoming.ts'
import { unreadable } from './incoming.ts'
import { readAlertmanager } from './kind/alertmanager.ts'
import { readCloudWatch } from './kind/cloudwatch.ts'
import { readDatadog } from './kind/datadog.ts'
import type { GenericPaths } from './kind/generic.ts'
import { readGeneric } from './kind/generic.ts'
import { readGrafana } from './kind/grafana.ts'
import { readPagerDuty } from './kind/pagerduty.ts'
import { readPagerDutyEvent } from './kind/pagerduty-events.ts'
import { readSentry } from './kind/sentry.ts'
import { readUptimeKuma } from './kind/uptime-kuma.ts'

type Read = (body: unknown, paths: GenericPaths) => Reading

/** What each kind of sender sends; of SNS, the message in a notification. */
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

/** Reads the body of a sender. What cannot be read, whatever it is, is refused: it must not keep what came after it waiting. */
export function readIncoming(kind: IntegrationKind, text: string, paths: GenericPaths): Reading {
  const body = parsed(text)
  if (body === undefined) return unreadable('It is not valid JSON.')
  try {
    return readers[kind](body, paths)
  } catch {
    // No text can be made of an object with a `toString` of its own, nor of what nests too deeply.
    return unreadable('It has values that cannot be read.')
  }
}

/** Returns a parsed text; undefined: it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
