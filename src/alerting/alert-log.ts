import type { NewEvent } from '../event-log/event.ts'
import type { Alert } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'

type AlertEventKind = Extract<
  EventKind,
  'ALERT_OPENED' | 'ALERT_REMINDED' | 'ALERT_ESCALATED' | 'ALERT_ENDED' | 'ALERT_ACKNOWLEDGED'
>

/** Collects the alerts of one transaction for the organization's event log. */
export interface AlertLog {
  add(kind: AlertEventKind, alert: Pick<Alert, 'id' | 'subjectName'>): void
  /** Returns at most one event per kind, which covers all alerts of that kind. */
  events(): NewEvent[]
}

/** The maximum number of monitors that an event names. */
const MAX_NAMED = 3

/** Creates an empty log. */
export function createAlertLog(): AlertLog {
  const byKind = new Map<AlertEventKind, Map<string, string>>()
  return {
    add(kind, { id, subjectName }) {
      byKind.set(kind, (byKind.get(kind) ?? new Map()).set(id, subjectName))
    },
    events: () =>
      [...byKind].flatMap(([kind, alerts]) => {
        const [first] = alerts.keys()
        return first === undefined ? [] : [{ kind, subjectId: first, subjectName: namesOf([...alerts.values()]) }]
      }),
  }
}

/** Joins the first names and counts the rest, such as `API, Web, Mail and 2 more`. */
function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  const named = names.slice(0, MAX_NAMED).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}
