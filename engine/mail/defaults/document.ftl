Subject: ${title}: ${event}

<#if user?has_content>${user}: </#if>${event}<#if comment?has_content> (${comment})</#if>

${title}
${path}
<#if base?has_content>
${base}/ui/#!/doc/${id}
</#if>
<#if notification?has_content>

You receive this message because you subscribed to "${notification}" here or in a folder above.
</#if>
