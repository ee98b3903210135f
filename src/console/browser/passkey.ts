// Passkeys: creates them, signs in and confirms with them. The server uses JSON with binary values in base64url.

const PATH = '/sign-in/passkey'

/** The addresses for challenges and for answers. */
const endpoints = {
  'sign-in': '',
  confirm: '/confirm',
  register: '/register',
} as const

type Use = keyof typeof endpoints

/** Shows the buttons if the browser supports passkeys; otherwise their elements stay hidden. */
export function offerPasskeys(root: ParentNode): void {
  if (!('PublicKeyCredential' in window)) return
  for (const element of root.querySelectorAll<HTMLElement>('.passkey')) element.hidden = false
}

/** Handles the buttons `data-passkey`. */
export function listenToPasskeys(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('button[data-passkey]') : null
    const use = button?.dataset['passkey']
    if (button && use && isUse(use)) void run(button, use)
  })
}

/** The pending autofill request; null: none. */
let autofill: AbortController | null = null

/** Offers passkeys in the autofill of the email address field. */
export async function offerAutofill(): Promise<void> {
  const field = document.querySelector<HTMLInputElement>('input[autocomplete~="webauthn"]')
  const button = document.querySelector<HTMLButtonElement>('button[data-passkey="sign-in"]')
  if (!field || !button || !('PublicKeyCredential' in window)) return
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  // Only when the field gets the focus: each request makes the server store a challenge.
  const turns = ['pointerover', 'focus'].map((name) => new Promise((turn) => field.addEventListener(name, turn)))
  // The field may already have the focus: quick people do not wait for a script.
  if (document.activeElement !== field) await Promise.race(turns)
  autofill = new AbortController()
  const { signal } = autofill
  try {
    const options = await post('/options', {})
    await post('', await get(options, { mediation: 'conditional', signal }))
    goOn(button)
  } catch (error) {
    // The button has replaced this request, or the person has left the page.
    if (signal.aborted) return
    // Other failures are not shown, because the person did not start this; only a refusal follows a choice.
    if (error instanceof Refusal) showProblem(button, error.message)
  }
}

const isUse = (text: string): text is Use => text in endpoints

async function run(button: HTMLButtonElement, use: Use): Promise<void> {
  button.disabled = true
  // A page may request one passkey at a time.
  autofill?.abort()
  try {
    const options = await post(`${endpoints[use]}/options`, {})
    const credential = use === 'register' ? await create(options) : await get(options)
    await post(endpoints[use], use === 'register' ? { name: nameFor(button), response: credential } : credential)
    goOn(button)
  } catch (error) {
    showProblem(button, messageOf(error))
  } finally {
    button.disabled = false
  }
}

/** A refusal by the server. */
class Refusal extends Error {}

function messageOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return 'You chose no passkey, or it took too long.'
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  return 'The passkey could not be used. Try again.'
}

// The options and answers of WebAuthn have many members; only the binary ones are converted here.
type Json = Record<string, unknown>

async function post(path: string, body: unknown): Promise<Json> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const response = await fetch(PATH + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json().catch(() => ({}))) as Json
  if (response.ok) return answer
  if (answer['code'] === 'CONFIRMATION_REQUIRED') {
    location.assign(`/confirm?to=${encodeURIComponent(location.pathname)}`)
  }
  throw new Refusal(String(answer['message'] ?? 'The passkey could not be used. Try again.'))
}

async function get(options: Json, extra: Pick<CredentialRequestOptions, 'mediation' | 'signal'> = {}): Promise<Json> {
  const allowCredentials = descriptors(options['allowCredentials'])
  const publicKey = { ...options, challenge: bytes(options['challenge']), allowCredentials }
  const credential = await navigator.credentials.get({
    ...extra,
    publicKey: publicKey as PublicKeyCredentialRequestOptions,
  })
  const { response } = requireCredential(credential)
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new TypeError('no assertion')
  return answerOf(requireCredential(credential), {
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
    ...(response.userHandle && { userHandle: text(response.userHandle) }),
  })
}

async function create(options: Json): Promise<Json> {
  const user = options['user'] as Json
  const publicKey = {
    ...options,
    challenge: bytes(options['challenge']),
    user: { ...user, id: bytes(user['id']) },
    excludeCredentials: descriptors(options['excludeCredentials']),
  }
  const made = await navigator.credentials.create({
    publicKey: publicKey as unknown as PublicKeyCredentialCreationOptions,
  })
  const credential = requireCredential(made)
  const { response } = credential
  if (!(response instanceof AuthenticatorAttestationResponse)) throw new TypeError('no attestation')
  const transports = response.getTransports?.() ?? []
  return answerOf(credential, { attestationObject: text(response.attestationObject), transports })
}

function requireCredential(credential: Credential | null): PublicKeyCredential {
  if (credential instanceof PublicKeyCredential) return credential
  throw new TypeError('no passkey')
}

function answerOf(credential: PublicKeyCredential, response: Json): Json {
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { clientDataJSON: text(credential.response.clientDataJSON), ...response },
  }
}

function descriptors(list: unknown): { id: Uint8Array; type: 'public-key' }[] {
  return Array.isArray(list) ? list.map(({ id }) => ({ id: bytes(id), type: 'public-key' as const })) : []
}

function bytes(base64url: unknown): Uint8Array {
  const binary = atob(String(base64url).replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
}

function text(buffer: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function nameFor(button: HTMLButtonElement): string {
  const name = button.form?.elements.namedItem('passkeyName')
  return (name instanceof HTMLInputElement && name.value.trim()) || 'Passkey'
}

/** Sends the form that was held when the session had ended, or goes to the button's target. */
function goOn(button: HTMLButtonElement): void {
  const held = document.querySelector<HTMLInputElement>('input[name="held"]')?.value
  if (held) resend(JSON.parse(held))
  else location.assign(button.dataset['to'] ?? '/console')
}

function resend({ path, fields }: { path: string; fields: [name: string, value: string][] }): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = path
  for (const [name, value] of fields) {
    const input = document.createElement('input')
    Object.assign(input, { type: 'hidden', name, value })
    form.append(input)
  }
  document.body.append(form)
  // Not `form.submit`, which a field of that name would hide.
  HTMLFormElement.prototype.submit.call(form)
}

function showProblem(button: HTMLButtonElement, message: string): void {
  const place = button.closest('.passkey') ?? button
  const shown = place.querySelector('.problem') ?? place.appendChild(document.createElement('p'))
  shown.className = 'problem'
  shown.setAttribute('role', 'alert')
  shown.textContent = message
}
