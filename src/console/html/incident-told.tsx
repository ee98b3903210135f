import type { AlertedChannel } from '../../alerting/alerted.ts'
import type { ToldByChannel } from '../../notification/told.ts'
import { channelNames } from './subscriber-words.ts'

/** Renders how many subscribers were told of an update, by channel. */
export function Told({ channels }: { readonly channels: readonly ToldByChannel[] }) {
  return (
    <p class="meta told">
      Told:{' '}
      {channels
        .map(({ channel, told, delivered, failed }) => {
          const waiting = told - delivered - failed
          const parts = [
            `${delivered} delivered`,
            ...(failed > 0 ? [`${failed} failed`] : []),
            ...(waiting > 0 ? [`${waiting} on the way`] : []),
          ]
          return `${told} by ${channelNames[channel]} (${parts.join(', ')})`
        })
        .join(' · ')}
    </p>
  )
}

/** Renders which alert channels were told of the alerts of an incident's monitors. */
export function Alerted({ channels }: { readonly channels: readonly AlertedChannel[] }) {
  if (channels.length === 0) return null
  return (
    <p class="row-facts" id="alerted">
      Team alerted: {channels.map(({ name }) => name).join(', ')}
    </p>
  )
}
