package main

import (
	"errors"
	"fmt"
	"slices"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	security "k8s.io/pod-security-admission/policy"
)

// together finds what an API server accepts of each manifest, although they do not fit each other: a service or a budget without pods,
// settings that are not there, and pods that a namespace refuses which accepts restricted ones only.
func together(objects []runtime.Object) (all error) {
	checks, err := security.NewEvaluator(security.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	var pods []core.PodTemplateSpec
	settings := map[string]bool{}
	for _, o := range objects {
		switch o := o.(type) {
		case *core.ConfigMap:
			settings[o.Name] = true
		case *apps.Deployment:
			pods = append(pods, o.Spec.Template)
			all = errors.Join(all, selects(o.Name, o.Spec.Selector, pods[len(pods)-1:]))
			for _, r := range checks.EvaluatePod(restricted, &o.Spec.Template.ObjectMeta, &o.Spec.Template.Spec) {
				if !r.Allowed {
					all = errors.Join(all, fmt.Errorf("deployment %s: %s: %s", o.Name, r.ForbiddenReason, r.ForbiddenDetail))
				}
			}
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *core.Service:
			all = errors.Join(all, selects(o.Name, &meta.LabelSelector{MatchLabels: o.Spec.Selector}, pods), ports(o, pods))
		case *policy.PodDisruptionBudget:
			all = errors.Join(all, selects(o.Name, o.Spec.Selector, pods))
		case *apps.Deployment:
			all = errors.Join(all, settled(o, settings))
		}
	}
	return all
}

// selects returns an error unless a selector finds pods.
func selects(name string, by *meta.LabelSelector, pods []core.PodTemplateSpec) error {
	selector, err := meta.LabelSelectorAsSelector(by)
	if err == nil && (selector.Empty() || !slices.ContainsFunc(pods, func(p core.PodTemplateSpec) bool { return selector.Matches(labels.Set(p.Labels)) })) {
		err = fmt.Errorf("%s: no pods have the labels %v", name, selector)
	}
	return err
}

// ports returns an error for each port of a service that leads to none of the pods, by name or number.
func ports(s *core.Service, pods []core.PodTemplateSpec) (all error) {
	have := map[string]bool{}
	for _, p := range pods {
		for _, c := range p.Spec.Containers {
			for _, port := range c.Ports {
				have[port.Name], have[fmt.Sprint(port.ContainerPort)] = true, true
			}
		}
	}
	for _, p := range s.Spec.Ports {
		if !have[p.TargetPort.String()] {
			all = errors.Join(all, fmt.Errorf("service %s: no pod has the port %s", s.Name, &p.TargetPort))
		}
	}
	return all
}

// settled returns an error for what the containers of a deployment refer to in vain: settings, ports of probes and volumes.
func settled(d *apps.Deployment, settings map[string]bool) (all error) {
	volumes := map[string]bool{}
	for _, v := range d.Spec.Template.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, from := range c.EnvFrom {
			if from.ConfigMapRef != nil && !settings[from.ConfigMapRef.Name] {
				all = errors.Join(all, fmt.Errorf("container %s: there are no settings %s", c.Name, from.ConfigMapRef.Name))
			}
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				all = errors.Join(all, fmt.Errorf("container %s: there is no volume %s", c.Name, m.Name))
			}
		}
		for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if p == nil || p.HTTPGet == nil || !slices.ContainsFunc(c.Ports, func(port core.ContainerPort) bool { return port.Name == p.HTTPGet.Port.String() }) {
				all = errors.Join(all, fmt.Errorf("container %s: a probe is missing, or asks a port that has no name", c.Name))
			}
		}
	}
	return all
}
