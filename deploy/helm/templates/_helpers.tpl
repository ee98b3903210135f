{{- define "allclear.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "allclear.selector" -}}
app.kubernetes.io/name: allclear
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The names of the Service inside the cluster. */}}
{{- define "allclear.hosts" -}}
{{- $name := include "allclear.name" . -}}
{{ $name }},{{ $name }}.{{ .Release.Namespace }},{{ $name }}.{{ .Release.Namespace }}.svc,{{ $name }}.{{ .Release.Namespace }}.svc.cluster.local
{{- end }}

{{- define "allclear.labels" -}}
{{ include "allclear.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Not empty if an upgrade replaces instances one by one. */}}
{{- define "allclear.rolls" -}}
{{- if and .Values.databaseServer (not .Values.stopForUpgrade) }}yes{{ end -}}
{{- end }}

{{- define "allclear.validate" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.databaseServer) }}
{{- fail "replicas is more than 1, which needs a PostgreSQL server: put DATABASE_URL and SECRET_KEY into existingSecret and set databaseServer to true. The embedded database takes one instance." }}
{{- end }}
{{- if and .Values.databaseServer (not .Values.existingSecret) }}
{{- fail "databaseServer needs existingSecret, the name of a Secret with DATABASE_URL and SECRET_KEY." }}
{{- end }}
{{- end }}
