import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { Fields } from './fields.ts'
import { type KnownKeys, noteLosses } from './losses.ts'
import { Draft, type Drafted, keyOf, nameOf, present, Unreadable, within } from './translation.ts'
import { readYamlObject } from './yaml-object.ts'

const PREFIX = 'openstatus'

const known: KnownKeys = {
  openTelemetry: 'OpenTelemetry is not supported.',
}

/** Translates `openstatus.yaml`, the file of the OpenStatus command line. @throws Unreadable. */
export function translateOpenStatus(text: string): Drafted {
  const file = readYamlObject(text)
  const entries = file.entries().map(([key, value]) => [key, new Fields(value)] as const)
  const monitors = entries.filter(([, monitor]) => monitor.has('request'))
  if (monitors.length === 0) throw new Unreadable('This isn’t a configuration of OpenStatus: it has no monitors.')
  const draft = new Draft()
  for (const [key, monitor] of entries) {
    if (monitor.has('request')) addMonitor(draft, key, monitor)
    else draft.skip('monitors', nameOf(monitor.text('name'), nameOf(key, 'Monitor')), 'It has no request.', monitor)
  }
  // The keys of the file are the ids of monitors, so paths begin below them.
  noteLosses(
    draft,
    monitors.map(([, monitor]) => monitor),
    known,
    ['monitors'],
  )
  return { ...draft, hasVariables: false }
}

function addMonitor(draft: Draft, id: string, monitor: Fields): void {
  const name = nameOf(monitor.text('name'), id)
  const kind = monitor.text('kind') || 'http'
  const isOff = monitor.isFalse('active')
  monitor.isTrue('active')
  const options = optionsOf(draft, name, kind, monitor)
  if (options === null) {
    draft.skip('monitors', name, `Allclear has no monitors of kind ${kind}.`, monitor)
    return
  }
  const key = keyOf(PREFIX, id)
  const interval = monitor.parsed('frequency', (text) => ownValue(frequencies, text)) ?? 600
  if (monitor.list('regions').length > 1)
    draft.partly('monitors', name, 'Its regions are not imported. It is probed from the regions here.')
  // A monitor that is not public gets no service.
  const isPublic = !monitor.isFalse('public')
  monitor.isTrue('public')
  const description = monitor.text('description').slice(0, 2000)
  if (isPublic) draft.objects.services.set(key, present({ name, description }))
  draft.objects.monitors.set(key, {
    ...{ name, ...(isPublic && { service: key }), intervalSeconds: interval },
    timeoutMs: within(500, Math.min(30_000, interval * 1000), monitor.number('timeout') ?? 30_000),
    failureThreshold: within(1, 10, (monitor.number('retry') ?? 1) + 1),
    ...options,
  })
  if (isOff) draft.pause(key, name)
}

const frequencies: Readonly<Record<string, number | undefined>> = {
  '30s': 30,
  '1m': 60,
  '5m': 300,
  '10m': 600,
  '30m': 1800,
  '1h': 3600,
}

function optionsOf(draft: Draft, name: string, kind: string, monitor: Fields): ObjectFields | null {
  const request = monitor.fields('request')
  const degradedAboveMs = monitor.number('degradedAfter')
  if (kind === 'tcp') return { tcp: present({ host: request.text('host'), port: request.number('port') }) }
  if (kind !== 'http') return null
  const method = request.text('method').toUpperCase() || 'GET'
  const headers = request
    .fields('headers')
    .entries()
    .map(([header, value]) => ({ name: header, value: String(value) }))
  return {
    http: present({
      url: request.text('url'),
      method: method === 'GET' ? undefined : method,
      headers: headers.length > 0 ? headers : undefined,
      body: /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : request.text('body'),
      maxRedirects: request.isFalse('followRedirects') ? 0 : undefined,
      degradedAboveMs: degradedAboveMs === undefined ? undefined : within(1, 30_000, degradedAboveMs),
      ...assertionsOf(draft, name, monitor.list('assertions')),
    }),
  }
}

function assertionsOf(draft: Draft, name: string, assertions: readonly unknown[]): ObjectFields {
  const converted: Record<string, unknown> = {}
  for (const assertion of assertions) {
    const fields = new Fields(assertion)
    const [kind, compare, target] = [fields.text('kind'), fields.text('compare'), fields.text('target')]
    const added = assertionOf(kind, compare, target)
    if (added !== null && !Object.keys(added).some((key) => key in converted)) Object.assign(converted, added)
    else {
      fields.settle()
      draft.partly('monitors', name, `It is probed without the assertion ${[kind, compare, target].join(' ')}.`)
    }
  }
  return converted
}

function assertionOf(kind: string, compare: string, target: string): ObjectFields | null {
  if (kind === 'statusCode' && compare === 'eq' && /^[1-5]\d\d$/.test(target)) return { expectedStatus: [target] }
  if (kind !== 'textBody' || target === '') return null
  if (compare === 'contains') return { keyword: { text: target } }
  return compare === 'not_contains' ? { keyword: { text: target, absent: true } } : null
}
