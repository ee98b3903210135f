import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { isSentFile } from '../../http/form.tsx'

/** A form that was sent when the session had ended. It is sent again once its sender has signed in. */
export interface HeldForm {
  /** The path to which it was sent, our own. */
  readonly path: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** The name of the field that carries a held form. */
const HELD = 'held'

/** Returns a form to hold. Files are not held: a browser lets nobody choose them for the user. */
export function holdForm(path: string, { fields }: SubmittedForm): HeldForm {
  return { path, fields: [...fields] }
}

/** Returns the held form in a submitted one; null: none, or it is malformed. */
export function heldIn({ fields }: Pick<FormState, 'fields'>): HeldForm | null {
  const text = fields.get(HELD)
  if (text === null || text === '') return null
  try {
    const held: unknown = JSON.parse(text)
    return isHeldForm(held) ? held : null
  } catch {
    return null
  }
}

function isHeldForm(value: unknown): value is HeldForm {
  if (typeof value !== 'object' || value === null || !('path' in value && 'fields' in value)) return false
  const { path, fields } = value
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && entry.length === 2 && entry.every((text) => typeof text === 'string')
  return typeof path === 'string' && ownPath(path) === path && Array.isArray(fields) && fields.every(isEntry)
}

/** Returns a path of this site; `/console` for any other text, such as the address of another site. */
export function ownPath(text: string | null | undefined): string {
  const base = 'http://own.invalid'
  if (!text?.startsWith('/') || !URL.canParse(text, base)) return '/console'
  const { origin, pathname, search } = new URL(text, base)
  // A path such as //host leads to another site.
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/console'
}

/** Renders the hidden field that carries a held form. */
export function HeldField({ held }: { readonly held: HeldForm | null }) {
  return held === null ? null : <input type="hidden" name={HELD} value={JSON.stringify(held)} />
}

/** Renders the form that sends what was held. */
export function ResendForm({ held }: { readonly held: HeldForm }) {
  const hadFile = held.fields.some(([name]) => isSentFile(name))
  return (
    <form method="post" action={held.path} class="stack" data-resend={hadFile ? undefined : ''}>
      <p class="lead">
        {hadFile
          ? 'What you typed was kept, the file was not. Send the rest now, then choose the file again.'
          : 'What you typed was kept. Send it now.'}
      </p>
      {held.fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <p class="actions">
        <button type="submit">Send</button> <a href={held.path}>Discard</a>
      </p>
    </form>
  )
}
