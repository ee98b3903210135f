import type { FollowOptions, OrganizationEvent, PageEvent } from '../client/index.ts'
import { type Command, EXIT, textOf } from './command.ts'
import { colourOf, paint, printable, wordsOf } from './paint.ts'

/** Follows live events. */
export const tail: Command = {
  usage: '[SLUG]',
  summary: 'Follow the events of a status page, or with a key all of your own, as they occur',
  details: 'It reconnects and continues after the last event. Ctrl-C ends it. With --json, one event a line.',
  options: { after: { type: 'string' } },
  describe: { after: 'a cursor: starts with the events after it' },
  async run(input, terminal, service) {
    const { client } = await service()
    const [slug] = input.words
    const options: FollowOptions = {
      after: textOf(input, 'after'),
      signal: terminal.signal,
      onReconnect: (error, inMs) => terminal.say(`${error.message} Trying again in ${Math.ceil(inMs / 1000)} s.`),
    }
    if (slug === undefined) {
      for await (const event of client.organizationEvents(options)) {
        terminal.result(input.json ? JSON.stringify(event) : organizationLine(event))
      }
    } else {
      for await (const event of client.statusPageEvents(slug, options)) {
        terminal.result(input.json ? JSON.stringify(event) : pageLine(event))
      }
    }
    return EXIT.ok

    function pageLine({ at, kind, incident, maintenance, service: affected, serviceGroup }: PageEvent): string {
      const subject = incident?.title ?? maintenance?.title ?? affected?.name ?? serviceGroup?.name ?? ''
      const status = incident?.status ?? maintenance?.status ?? affected?.status
      return line(at, kind, subject, status)
    }

    function organizationLine({ event }: OrganizationEvent): string {
      if (event === null) return paint(terminal, 'yellow', 'Earlier events are no longer kept; later ones follow.')
      return line(event.at, event.kind, event.subjectName, undefined, event.userName ?? wordsOf(event.actor))
    }

    function line(at: string, kind: string, subject: string, status?: string, actor?: string): string {
      const parts = [
        paint(terminal, 'grey', at),
        wordsOf(kind),
        paint(terminal, 'bold', printable(subject)),
        status === undefined ? '' : paint(terminal, colourOf(status), wordsOf(status)),
        actor === undefined ? '' : paint(terminal, 'grey', `by ${printable(actor)}`),
      ]
      return parts.filter((part) => part !== '').join('  ')
    }
  },
}
