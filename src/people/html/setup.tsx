import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, InputField, UsernameField } from '../../http/page/form.tsx'
import { NewPasswordField } from './password-fields.tsx'

const FIELDS = ['email', 'name', 'password', 'organizationName', 'slug']

/** Renders the setup form. @param token null: the form asks for `ADMIN_TOKEN`. */
export function SetupForm({ state, token }: { readonly state: FormState; readonly token: string | null }) {
  return (
    <form method="post" action="/setup" class="stack">
      <p class="lead">Create your account and your organization. You can invite others later.</p>
      <FormProblem state={state} fields={FIELDS} />
      {token === null ? (
        <InputField
          label="Operator’s token"
          name="token"
          type="password"
          state={state}
          required
          hint="The value of ADMIN_TOKEN."
          autocomplete="off"
        />
      ) : (
        <input type="hidden" name="token" value={token} />
      )}
      <InputField label="Email" name="email" type="email" state={state} required autocomplete="username" />
      <PersonFields state={state} />
      <p class="actions">
        <button type="submit">Continue</button>
      </p>
    </form>
  )
}

/** Renders the form for a person whose email address is proven. */
export function SignUpForm({ state, email }: { readonly state: FormState; readonly email: string }) {
  return (
    <form method="post" class="stack">
      <p class="lead">{email}</p>
      <FormProblem state={state} fields={FIELDS} />
      <UsernameField email={email} />
      <PersonFields state={state} />
      <p class="actions">
        <button type="submit">Create account</button>
      </p>
    </form>
  )
}

function PersonFields({ state }: { readonly state: FormState }) {
  return (
    <>
      <InputField label="Your name" name="name" state={state} required autocomplete="name" maxlength={100} />
      <NewPasswordField state={state} />
      <InputField
        label="Organization"
        name="organizationName"
        state={state}
        required
        hint="As your status page shows it."
        autocomplete="organization"
        maxlength={100}
      />
      <InputField
        label="Name in addresses"
        name="slug"
        state={state}
        required
        hint="Lowercase letters, digits and hyphens: /status/your-name"
        autocomplete="off"
        maxlength={63}
      />
    </>
  )
}
