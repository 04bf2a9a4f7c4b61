{{- define "onlooker.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "onlooker.selector" -}}
app.kubernetes.io/name: onlooker
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "onlooker.labels" -}}
{{ include "onlooker.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "onlooker.config" -}}
onlooker: 1
listen: 0.0.0.0:8790
control: {{ ternary "0.0.0.0" "127.0.0.1" .Values.metrics.onPodAddress }}:8791
state: /var/lib/onlooker/state
workers: {{ .Values.workers }}
spool: {cap: {{ .Values.spoolMiB }}MiB}
sinks: {{ toJson .Values.sinks }}
{{- with .Values.routes }}
routes: {{ toJson . }}
{{- end }}
policies:
  {{- if .Values.starter }}
  - onlooker:starter
  {{- end }}
  {{- if .Values.policies }}
  - /etc/onlooker/policies/
  {{- end }}
  {{- if not (or .Values.starter .Values.policies) }} []{{ end }}
{{- if .Values.objectives }}
objectives: ["/etc/onlooker/objectives/"]
{{- end }}
{{- with .Values.extraConfig }}
{{ toYaml . }}
{{- end }}
{{- end }}
