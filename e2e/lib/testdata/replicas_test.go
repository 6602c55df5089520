package podautoscaler

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// A question is a Deployment at one moment. cluster.py asks it.
type question struct {
	Metric  autoscaling.MetricSpec  // of the HorizontalPodAutoscaler
	Request v1.ResourceRequirements // of a pod
	Pods    []struct {
		Age      float64            // seconds
		Ready    bool               // now
		Since    float64            // for how many seconds
		Deleted  bool               // it waits for its sessions to end
		Measured *resource.Quantity // null: there is no measurement
	}
}

// An answer is how many pods the autoscaler wants, or why it does nothing.
type answer struct {
	Replicas int32
	Error    string
}

type measured struct {
	metricsclient.MetricsClient
	pods metricsclient.PodMetricsInfo
}

func (m measured) GetResourceMetric(
	context.Context, v1.ResourceName, string, labels.Selector, string,
) (metricsclient.PodMetricsInfo, time.Time, error) {
	return m.pods, time.Now(), nil
}

func (m measured) GetRawMetric(
	string, string, labels.Selector, labels.Selector,
) (metricsclient.PodMetricsInfo, time.Time, error) {
	return m.pods, time.Now(), nil
}

func TestReplicas(t *testing.T) {
	var questions []question
	data, err := os.ReadFile(os.Getenv("QUESTIONS"))
	if err == nil {
		err = json.Unmarshal(data, &questions)
	}
	var answers []answer
	for _, q := range questions {
		answers = append(answers, replicas(q))
	}
	if err == nil {
		data, err = json.Marshal(answers)
	}
	if err == nil {
		err = os.WriteFile(os.Getenv("ANSWERS"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func replicas(q question) answer {
	now := time.Now()
	ago := func(seconds float64) metav1.Time {
		return metav1.NewTime(now.Add(-time.Duration(seconds * float64(time.Second))))
	}
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	metrics := metricsclient.PodMetricsInfo{}
	current := int32(0)
	for i, p := range q.Pods {
		name, start, status := fmt.Sprint("bot-", i), ago(p.Age), v1.ConditionFalse
		if p.Ready {
			status = v1.ConditionTrue
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "n"}}
		pod.Spec.Containers = []v1.Container{{Name: "bot", Resources: q.Request}}
		pod.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: &start}
		pod.Status.Conditions = []v1.PodCondition{{
			Type:               v1.PodReady,
			Status:             status,
			LastTransitionTime: ago(p.Since),
		}}
		if p.Deleted {
			pod.DeletionTimestamp = &metav1.Time{Time: now.Add(time.Hour)}
		} else {
			current++
		}
		if p.Measured != nil {
			metrics[name] = metricsclient.PodMetric{
				Timestamp: now,
				Window:    15 * time.Second,
				Value:     p.Measured.MilliValue(),
			}
		}
		if err := pods.Add(pod); err != nil {
			return answer{Error: err.Error()}
		}
	}
	// The controller's defaults: --horizontal-pod-autoscaler-cpu-initialization-period and so on.
	calculator := NewReplicaCalculator(measured{pods: metrics}, corelisters.NewPodLister(pods), 5*time.Minute,
		30*time.Second)
	tolerances := Tolerances{0.1, 0.1}
	var n int32
	var err error
	if m := q.Metric.Resource; m != nil {
		n, _, _, _, err = calculator.GetResourceReplicas(context.Background(), current,
			*m.Target.AverageUtilization, m.Name, tolerances, "n", labels.Everything(), "")
	} else {
		m := q.Metric.Pods
		n, _, _, err = calculator.GetMetricReplicas(current, m.Target.AverageValue.MilliValue(),
			m.Metric.Name, tolerances, "n", labels.Everything(), nil)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Replicas: n}
}
