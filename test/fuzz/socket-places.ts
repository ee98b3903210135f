import type { FilledOrganization } from '../support/filled-organization.ts'
import type { Place } from './input.ts'
import { asText } from './input.ts'
import type { Kind } from './values.ts'
import { all, shapes, texts } from './values.ts'

/** A message of the protocol graphql-transport-ws. */
type Message = Readonly<Record<string, unknown>>

const callers: Place['callers'] = ['stranger', 'ADMIN', 'READ', 'WRITE', 'token']

/** Returns every member of every message of a websocket, before and after it is initialized, and in wrong orders. */
export function socketPlaces({ slug, ids }: FilledOrganization): Place[] {
  const events = 'subscription E($slug: String!) { statusPageEvents(slug: $slug) { cursor } }'
  const operation = { query: events, variables: { slug }, operationName: 'E', extensions: {} }
  const usual: readonly Message[] = [
    { type: 'connection_init', payload: {} },
    { type: 'ping', payload: {} },
    { type: 'pong', payload: {} },
    { type: 'subscribe', id: 'one', payload: operation },
    { type: 'subscribe', id: 'two', payload: { query: '{ __typename }' } },
    {
      type: 'subscribe',
      id: 'three',
      payload: { query: `subscription { incidentEvents(id: "${ids.Incident}") { cursor } }` },
    },
    { type: 'complete', id: 'one' },
    // Only a server sends these.
    { type: 'connection_ack', payload: {} },
    { type: 'next', id: 'one', payload: { data: null } },
    { type: 'error', id: 'one', payload: [] },
  ]
  return [
    ...usual.flatMap((message) => placesOf(message, operation)),
    place('a text', texts, (value) => [init, asText(value)]),
    place('a text before all others', texts, (value) => () => [asText(value)]),
    place('bytes', [...texts, ...shapes], (value) => [init, Buffer.from(asText(value))]),
    place('a value', all, (value) => [init, json(value)]),
    place('many operations', texts, (value) => [
      init,
      ...Array.from({ length: 120 }, (_, nth) =>
        json({ type: 'subscribe', id: `${nth}${asText(value).slice(0, 999)}`, payload: operation }),
      ),
    ]),
    place('the same operation again', texts, (value) => [
      init,
      ...Array<string>(3).fill(json({ type: 'subscribe', id: value, payload: operation })),
    ]),
    place('operations that end at once', texts, (value) => [
      init,
      ...Array.from({ length: 200 }, (_, nth) => [
        json({
          type: 'subscribe',
          id: `${nth}`,
          payload: { ...operation, operationName: asText(value).slice(0, 999) },
        }),
        json({ type: 'complete', id: `${nth}` }),
      ]).flat(),
    ]),
  ]
}

/** Stands for the first message, with the credential of whoever sends it. */
const init = Symbol('connection_init')
type Sent = string | Buffer | typeof init

const json = (value: unknown): string => JSON.stringify(value) ?? ''

function place(
  name: string,
  kinds: readonly Kind[],
  sent: (value: unknown) => readonly Sent[] | (() => readonly (string | Buffer)[]),
): Place {
  return {
    ...{ name: `websocket ${name}`, callers, kinds },
    put(value) {
      const messages = sent(value)
      return {
        ...{ method: 'GET', path: '/graphql', headers: {}, body: null },
        socket: (authorization) =>
          typeof messages === 'function'
            ? messages()
            : messages.map((each) => (each === init ? initFor(authorization) : each)),
      }
    },
  }
}

const initFor = (authorization: string | undefined): string =>
  json({ type: 'connection_init', payload: authorization === undefined ? {} : { authorization } })

function placesOf(message: Message, operation: Message): Place[] {
  const name = asText(message['type'])
  const members = ['type', 'id', 'payload', 'extra']
  const inner = name === 'subscribe' ? [...Object.keys(operation), 'extra'] : ['authorization', 'apiKey', 'extra']
  const put = (title: string, change: (value: unknown) => Message): Place[] => [
    place(`${name} ${title}`, all, (value) => [init, json(change(value))]),
    place(`${name} ${title}, before connection_init`, all, (value) => [json(change(value)), init, json(message)]),
    place(`${name} ${title}, twice`, texts, (value) => [
      init,
      json(message),
      json(change(value)),
      json(change(value)),
      init,
    ]),
  ]
  const payload = (message['payload'] ?? {}) as Message
  return [
    ...members.flatMap((member) => put(member, (value) => ({ ...message, [member]: value }))),
    ...inner.flatMap((member) =>
      put(`payload.${member}`, (value) => ({ ...message, payload: { ...payload, [member]: value } })),
    ),
  ]
}
