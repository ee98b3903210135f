// Follows an organization's log, and the results of the monitor on screen, with the session's cookie.

import { keepSubscribed } from '../../graphql/browser/subscriptions.ts'

interface LogListener {
  onEvent(): void
  onState(state: 'live' | 'lost'): void
}

const logQuery =
  'subscription($organizationId:ID!,$after:String){organizationEvents(organizationId:$organizationId,after:$after){cursor}}'
const resultsQuery = 'subscription($id:ID!){monitorChecks(id:$id){cursor}}'

/** What to follow: a log from a position on, and the results of a monitor's probes; null: of none. */
export interface Followed {
  readonly organization: string
  readonly after: string
  readonly monitor: string | null
}

/** Follows the log while the page is open. @param position returns what to follow, for each connection. */
export function followLog(position: () => Followed, { onEvent, onState }: LogListener): void {
  keepSubscribed({
    subscriptions() {
      const { organization: organizationId, after, monitor: id } = position()
      const log = { query: logQuery, variables: { organizationId, after }, onData: onEvent }
      return id === null ? [log] : [log, { query: resultsQuery, variables: { id }, onData: onEvent }]
    },
    onConnected: () => onState('live'),
    onDisconnected: () => onState('lost'),
  })
}
