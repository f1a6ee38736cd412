Subject: A task for you<#if title?has_content>: ${title}</#if>

<#if user?has_content>${user} has given you<#else>You have</#if> a task<#if task?has_content>: ${task}</#if>.
<#if title?has_content>

${title}
${path}
</#if>
<#if base?has_content>

${base}/ui/tasks#${taskId}
</#if>
<#if due?has_content>

Due: ${due}
</#if>
