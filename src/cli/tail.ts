import type { FollowOptions, OrganizationEvent, PageEvent } from '../client/index.ts'
import { type Command, EXIT, textOf } from './command.ts'
import { colourOf, jsonText, paint, printable, wordsOf } from './paint.ts'

/** Follows live events. */
export const tail: Command = {
  usage: '[SLUG]',
  summary: 'Follow the events of a status page live, or with a key those of your organization',
  details:
    'It reconnects and continues after the last event. Stop it with Ctrl-C. With --json, it prints one event per line.',
  examples: ['allclear tail', 'allclear tail example --json'],
  exitCodes: { 0: 'interrupted' },
  options: { after: { type: 'string' } },
  describe: { after: 'a cursor; starts with the event after it' },
  async run(input, terminal, service) {
    const { client } = await service()
    const [slug] = input.words
    const options: FollowOptions = {
      after: textOf(input, 'after'),
      signal: terminal.signal,
      onReconnect: (error, inMs) => terminal.say(`${error.message} Reconnecting in ${Math.ceil(inMs / 1000)} s.`),
    }
    if (slug === undefined) {
      for await (const event of client.organizationEvents(options)) {
        terminal.result(input.json ? jsonText(event) : organizationLine(event))
      }
    } else {
      for await (const event of client.statusPageEvents(slug, options)) {
        terminal.result(input.json ? jsonText(event) : pageLine(event))
      }
    }
    return EXIT.ok

    function pageLine({ at, kind, incident, maintenance, service: affected, serviceGroup }: PageEvent): string {
      const subject = incident?.title ?? maintenance?.title ?? affected?.name ?? serviceGroup?.name ?? ''
      const status = incident?.status ?? maintenance?.status ?? affected?.status
      return line(at, kind, subject, status)
    }

    function organizationLine({ event }: OrganizationEvent): string {
      if (event === null) return paint(terminal, 'yellow', 'Older events have been deleted. Newer ones follow.')
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
