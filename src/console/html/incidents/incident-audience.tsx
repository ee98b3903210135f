import type { AlertedChannel } from '../../../alerting/alerted-channels.ts'
import type { UpdateAudience } from '../../../notification/delivery/update-audience.ts'
import { channelNames } from '../subscribers/subscriber-words.ts'

/** Renders how many subscribers were notified of an update, by channel. */
export function Audience({ channels }: { readonly channels: readonly UpdateAudience[] }) {
  return (
    <p class="meta audience">
      Notified:{' '}
      {channels
        .map(({ channel, notified, delivered, failed }) => {
          const waiting = notified - delivered - failed
          const parts = [
            `${delivered} delivered`,
            ...(failed > 0 ? [`${failed} failed`] : []),
            ...(waiting > 0 ? [`${waiting} on the way`] : []),
          ]
          return `${notified} by ${channelNames[channel]} (${parts.join(', ')})`
        })
        .join(' · ')}
    </p>
  )
}

/** Renders which alert channels were notified of the alerts of an incident's monitors. */
export function Alerted({ channels }: { readonly channels: readonly AlertedChannel[] }) {
  if (channels.length === 0) return null
  return (
    <p class="row-facts" id="alerted">
      Team alerted: {channels.map(({ name }) => name).join(', ')}
    </p>
  )
}
