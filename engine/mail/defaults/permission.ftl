Subject: ${user} gave you a permission on ${title}

${user} gave you the permission ${permission} on

${title}
${path}
<#if base?has_content>
${base}/ui/#!/doc/${id}
</#if>
<#if begin?has_content || end?has_content>

<#if begin?has_content>
From: ${begin}
</#if>
<#if end?has_content>
Until: ${end}
</#if>
</#if>
<#if comment?has_content>

${comment}
</#if>
